import t from 'tap';
import type { ContextLease } from '../../../browser-pool/contexts/context-lease.js';
import { RunFailure } from '../../../browser-pool/failures.js';
import { LIMITS, type PoolLimits } from '../../../browser-pool/limits.js';
import type { FromBrowser, RunOrder } from '../../../browser-pool/messages.js';
import type { Program } from '../../../browser-pool/program.js';
import { Run } from '../../../browser-pool/runs/run.js';
import { shareResources } from '../../../browser-pool/runs/run-resources.js';

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

/** A run on resources without a browser, with the messages and states it reports. */
function fixture(limits: Partial<PoolLimits> = {}) {
  const given: string[] = [];
  const lease = {
    session: { context: {}, browser: { gone: false, onGone: () => () => {} } },
    keep: () => given.push('kept') > 0,
    drop: async () => void given.push('dropped'),
  };
  const resources = shareResources(
    { ...LIMITS, running_runs: 1, warm_pages: 0, ...limits },
    { lease: async () => lease as unknown as ContextLease },
    undefined,
  );
  const sent: FromBrowser[] = [];
  const states: string[] = [];
  const watchers = new Map<string, () => void>();
  const run = new Run(1, ORDER, resources, {
    send: (message) => sent.push(message),
    onState: (state) => {
      states.push(state);
      watchers.get(state)?.();
    },
  });
  /** The next time that the run enters this state. */
  const reached = (state: string) => new Promise<void>((resolve) => watchers.set(state, resolve));
  return { run, resources, reached, sent, states, given, types: () => sent.map(({ type }) => type) };
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
  run.proceed();
  await ended;
  run.interrupt(new RunFailure('session_fenced'));
  t.same(states, ['executing', 'waiting', 'executing', 'ended']);
  t.same(types(), ['boundary', 'result']);
  t.same(given, ['kept']);
  t.equal(resources.runSlots.held, 0);
});

t.test('a run that waits for a code holds no slot, and is queued for one again', async (t) => {
  const { run, resources, reached, types } = fixture();
  const waiting = reached('waiting');
  const ended = run.execute(async (run) => ({ result: { code: await run.challenge('email', true) } }));
  await waiting;
  t.equal(resources.runSlots.held, 0);
  t.equal(resources.waitingRuns.size, 1);
  const release = await resources.runSlots.acquire('other', 1_000, new AbortController().signal);
  const queued = reached('queued');
  run.code('123456');
  await queued;
  t.equal(resources.runSlots.waiting, 1);
  release();
  await ended;
  t.same(types(), ['challenge', 'result']);
  t.equal(resources.waitingRuns.size, 0);
});

t.test('past the boundary a cancel is ignored, and any other end leaves open what happened', async (t) => {
  const { run, reached, sent, given } = fixture();
  const waiting = reached('waiting');
  const ended = run.execute(async (run) => {
    await run.boundary();
    return new Promise(() => {});
  });
  await waiting;
  run.proceed();
  run.interrupt(new RunFailure('canceled'));
  t.equal(sent.length, 1, 'it goes on');
  run.interrupt(new RunFailure('browser_unavailable', {}, { transient: true }));
  await ended;
  t.match(sent[1], { type: 'failure', code: 'browser_unavailable', transient: false, pastBoundary: true });
  t.same(given, ['dropped']);
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
  run.proceed();
  run.interrupt(new RunFailure('session_fenced'));
  await ended;
  await new Promise(setImmediate);
  t.notOk(past);
  t.match(sent[1], { code: 'session_fenced', pastBoundary: true }, 'the actor let it, so the outcome is in question');
});

t.test('a wait for the actor that takes too long fails the run', async (t) => {
  const { run, sent, given } = fixture({ proceed_wait_ms: 1 });
  await run.execute(send);
  t.match(sent, [{ type: 'boundary' }, { type: 'failure', code: 'session_fenced' }]);
  t.same(given, ['dropped']);
});
