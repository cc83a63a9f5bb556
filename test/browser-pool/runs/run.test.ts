import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { ContextLease } from '../../../browser-pool/contexts/context-lease.js';
import { RunFailure } from '../../../browser-pool/failures.js';
import { LIMITS, type PoolLimits } from '../../../browser-pool/limits.js';
import type { FromBrowser, RunOrder } from '../../../browser-pool/messages.js';
import type { Program, ProgramRun } from '../../../browser-pool/program.js';
import { Run } from '../../../browser-pool/runs/run.js';
import { shareResources } from '../../../browser-pool/runs/run-resources.js';
import { createLogger } from '../../../storage/log/log.js';

const ORDER: RunOrder = {
  workspaceId: 'workspace',
  connectionId: 'connection',
  stateRevision: 1,
  epoch: 1,
  capability: 'social.message.send',
  input: {},
  proxy: { id: 'proxy', server: 'http://127.0.0.1:9' },
  session: '{}',
  actorId: null,
  deadline_ms: 60_000,
};

const PERMISSION = { until_ns: 2n ** 62n, until_ms: Number.MAX_SAFE_INTEGER };

/** A run on resources without a browser, with the messages and states it reports. */
function fixture(limits: Partial<PoolLimits> = {}, order: Partial<RunOrder> = {}) {
  const given: string[] = [];
  const lease = {
    session: {
      context: {},
      forget: () => {},
      settle: () => undefined,
      browser: { gone: false, onGone: () => () => {} },
    },
    keep: () => given.push('kept') > 0,
    drop: async () => void given.push('dropped'),
  };
  const resources = shareResources(
    { ...LIMITS, running_runs: 1, warm_pages: 0, ...limits },
    { lease: async () => lease as unknown as ContextLease },
    undefined,
    createLogger({ level: 'warn', format: 'json' }, {}),
  );
  const sent: FromBrowser[] = [];
  const clock: boolean[] = [];
  const states: string[] = [];
  const watchers = new Map<string, () => void>();
  const run = new Run(1, { ...ORDER, ...order }, resources, {
    send: (message) => (message.type === 'clock' ? clock.push(message.running) : sent.push(message)),
    onState: (state) => {
      states.push(state);
      watchers.get(state)?.();
    },
  });
  /** The next time that the run enters this state. */
  const reached = (state: string) => new Promise<void>((resolve) => watchers.set(state, resolve));
  return { run, resources, reached, sent, clock, states, given, types: () => sent.map(({ type }) => type) };
}

const send: Program = async (run) => {
  await run.boundary();
  return { result: {} };
};

t.test('a run passes through its states to one end, and gives back what it held', async (t) => {
  const { run, resources, reached, states, types, given } = fixture();
  const waiting = reached('waiting');
  const ended = run.execute(send);
  await waiting;
  run.stored();
  t.equal(states.at(-1), 'waiting', 'another answer than the one it waits for changes nothing');
  run.proceed(PERMISSION);
  await ended;
  run.interrupt(new RunFailure('session_fenced'));
  t.same(states, ['executing', 'waiting', 'executing', 'ended']);
  t.same(types(), ['boundary', 'result']);
  t.same(given, ['kept']);
  t.equal(resources.runSlots.held, 0);
});

t.test(
  'an interrupted run has ended at once: a permission that comes in the same turn lets nothing through',
  async (t) => {
    const { run, reached, types } = fixture();
    const waiting = reached('waiting');
    let sent = false;
    const ended = run.execute(async (program) => {
      await program.boundary();
      sent = true;
      return { result: {} };
    });
    await waiting;
    run.interrupt(new RunFailure('session_fenced'));
    t.same(types(), ['boundary', 'failure'], 'its end is on its way');
    run.proceed(PERMISSION);
    await ended;
    t.notOk(sent);
    t.same(types(), ['boundary', 'failure']);
  },
);

t.test('a run that waits for a code holds no slot, and is queued for one again', async (t) => {
  const { run, resources, reached, clock, types } = fixture();
  const waiting = reached('waiting');
  const ended = run.execute(async (run) => ({ result: { code: await run.challenge('email', true) } }));
  await waiting;
  t.equal(resources.runSlots.held, 0);
  t.equal(resources.waitingRuns.size, 1);
  const release = await resources.runSlots.acquire('other', new AbortController().signal);
  const queued = reached('queued');
  run.code('123456');
  await queued;
  t.equal(resources.runSlots.waiting, 1);
  release();
  await ended;
  t.same(types(), ['challenge', 'result']);
  t.same(clock, [true, false, true], 'and its clock stood still meanwhile');
  t.equal(resources.waitingRuns.size, 0);
});

t.test('a run waits for a code for as long as its actor does', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const { run, reached, types, sent } = fixture();
  const waiting = reached('waiting');
  const ended = run.execute(async (run) => ({ result: { code: await run.challenge('email', true) } }));
  await waiting;
  mock.timers.tick(24 * 3_600_000);
  run.code('123456');
  await ended;
  t.same(types(), ['challenge', 'result']);
  t.match(sent[1], { result: { code: '123456' } });
});

t.test('past the boundary a cancel is ignored, and any other end leaves open what happened', async (t) => {
  const { run, reached, sent, given } = fixture();
  const waiting = reached('waiting');
  const past = Promise.withResolvers<void>();
  const ended = run.execute(async (run) => {
    await run.boundary();
    past.resolve();
    return new Promise(() => {});
  });
  await waiting;
  run.proceed(PERMISSION);
  await past.promise;
  run.interrupt(new RunFailure('canceled'));
  t.equal(sent.length, 1, 'it goes on');
  run.interrupt(new RunFailure('browser_unavailable', {}, { transient: true }));
  await ended;
  t.match(sent[1], { type: 'failure', code: 'browser_unavailable', transient: false, pastBoundary: true });
  t.match(sent[1], { progress: { request: { sent: 'unknown', at: null }, answer: null } });
  t.same(given, ['dropped']);
});

t.test('a run that ends past its boundary tells how far its request came by then, whoever ends it', async (t) => {
  for (const outside of [true, false]) {
    const { run, reached, sent } = fixture();
    const waiting = reached('waiting');
    const past = Promise.withResolvers<ProgramRun['progress']>();
    const gate = Promise.withResolvers<never>();
    const ended = run.execute(async (run) => {
      await run.boundary();
      run.progress.request = { sent: 'partly', at: 'then' };
      past.resolve(run.progress);
      return gate.promise;
    });
    await waiting;
    run.proceed(PERMISSION);
    const progress = await past.promise;
    if (outside) run.interrupt(new RunFailure('deadline_exceeded'));
    else gate.reject(new RunFailure('parsing_error'));
    await ended;
    progress.request = { sent: 'yes', at: 'then' };
    progress.answer = { status: 200 };
    t.match(sent[1], { pastBoundary: true, progress: { request: { sent: 'partly', at: 'then' }, answer: null } });
  }
});

t.test('a program that goes on after the end passes no boundary, and nothing more is sent', async (t) => {
  const { run, sent } = fixture();
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const late = Promise.withResolvers<unknown>();
  const ended = run.execute(async (run) => {
    started.resolve();
    await gate.promise;
    await run.boundary().catch(late.resolve);
    return { result: {} };
  });
  await started.promise;
  run.interrupt(new RunFailure('canceled'));
  await ended;
  gate.resolve();
  t.match(await late.promise, { code: 'canceled' });
  t.match(sent, [{ type: 'failure', code: 'canceled', pastBoundary: false }]);
  t.equal(sent.length, 1);
});

t.test('an answer that comes with the interruption does not let the program past the boundary', async (t) => {
  const { run, reached, sent } = fixture();
  const waiting = reached('waiting');
  let past = false;
  const ended = run.execute(async (run) => {
    await run.boundary();
    past = true;
    return { result: {} };
  });
  await waiting;
  run.proceed(PERMISSION);
  run.interrupt(new RunFailure('session_fenced'));
  await ended;
  await new Promise(setImmediate);
  t.notOk(past);
  t.match(
    sent[1],
    { code: 'session_fenced', pastBoundary: false, unsent: true },
    'the row is past it, the program is not',
  );
});

t.test('a wait for the actor that takes too long fails the run', async (t) => {
  const { run, sent, given } = fixture({ proceed_wait_ms: 1 });
  await run.execute(send);
  const unsent = { transient: true, pastBoundary: false, unsent: true };
  t.match(sent, [{ type: 'boundary' }, { type: 'failure', code: 'session_fenced', ...unsent }], 'to be tried again');
  t.same(given, ['dropped']);
});

const LATE = { until_ns: 0n, until_ms: Number.MAX_SAFE_INTEGER };

t.test('a permission that ran out before it came lets nothing leave, and the run can be tried again', async (t) => {
  for (const permission of [LATE, { ...PERMISSION, until_ms: 0 }]) {
    const { run, reached, sent } = fixture();
    const waiting = reached('waiting');
    let past = false;
    const ended = run.execute(async (run) => {
      await run.boundary();
      past = true;
      return { result: {} };
    });
    await waiting;
    run.proceed(permission);
    await ended;
    t.notOk(past);
    t.match(sent[1], { code: 'session_fenced', transient: true, pastBoundary: false, unsent: true });
  }
});

t.test('past the boundary only proof that nothing left makes a run unsent', async (t) => {
  const trouble = { transient: true };
  for (const [failure, end] of [
    [new RunFailure('upstream_error', {}, trouble), { transient: false, pastBoundary: true, unsent: false }],
    [new RunFailure('upstream_error', {}, { ...trouble, definite: true }), { transient: false, pastBoundary: false }],
    [new RunFailure('upstream_error', {}, { ...trouble, unsent: true }), { transient: true, unsent: true }],
  ] as const) {
    const { run, reached, sent } = fixture();
    const waiting = reached('waiting');
    const ended = run.execute(async (run) => {
      await run.boundary();
      throw failure;
    });
    await waiting;
    run.proceed(PERMISSION);
    await ended;
    t.match(sent[1], end);
  }
});

t.test('a run waits for its slot as long as it takes: its running time begins when it has one', async (t) => {
  const { run, resources, clock, types } = fixture({}, { deadline_ms: 1 });
  const release = await resources.runSlots.acquire('other', new AbortController().signal);
  const ended = run.execute(async () => ({ result: {} }));
  await delay(20);
  t.same(types(), []);
  t.same(clock, []);
  release();
  await ended;
  t.same(types(), ['result']);
  t.same(clock, [true]);
});

t.test('a run that is going to need a page waits for one before it holds anything else', async (t) => {
  const { run, resources, given, types } = fixture({ pages: 1 }, { deadline_ms: 1 });
  const release = await resources.pageSlots.acquire('other', new AbortController().signal);
  const ended = run.execute(Object.assign(async () => ({ result: {} }), { usesPage: true }));
  await delay(20);
  t.equal(resources.pageSlots.waiting, 1);
  t.equal(resources.runSlots.held, 0);
  t.same(types(), []);
  release();
  await ended;
  t.same(types(), ['result']);
  t.same(given, ['kept']);
  t.equal(resources.pageSlots.held, 0, 'and gives it back, though it opened no page');
});

t.test('a workspace whose users all look for their codes leaves room for the users of others', async (t) => {
  const limits = { waiting_runs: 3, waiting_runs_workspace: 2 };
  const { run, resources, sent } = fixture(limits);
  const { run: other } = fixture(limits, { workspaceId: 'other' });
  for (let n = 0; n < 2; n++) resources.waitingRuns.add({ order: ORDER });
  const challenge: Program = async (run) => ({ result: { code: await run.challenge('email', true) } });
  await run.execute(challenge);
  t.match(sent, [{ type: 'failure', code: 'browser_unavailable', details: { reason: 'too_many_waiting' } }]);
  resources.waitingRuns.clear();
  for (let n = 0; n < 2; n++) resources.waitingRuns.add({ order: other.order });
  const second = new Run(2, ORDER, resources, {
    send: () => {},
    onState: (state) => state === 'waiting' && waiting.resolve(),
  });
  const waiting = Promise.withResolvers<void>();
  const ended = second.execute(challenge);
  await waiting.promise;
  second.code('123456');
  await ended;
  t.equal(resources.waitingRuns.size, 2);
});
