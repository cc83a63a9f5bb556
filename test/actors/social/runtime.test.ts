import { randomBytes, randomUUID } from 'node:crypto';
import { MessageChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import { type Execution, Interrupted } from '../../../actors/operations/attempt/execution.js';
import { ProxyHealth } from '../../../actors/proxy-health.js';
import { BrowserLink } from '../../../actors/social/browser-link.js';
import { createSocialRuntime } from '../../../actors/social/runtime.js';
import type { FromBrowser, ToBrowser } from '../../../browser-pool/messages.js';
import { addProxy, listFailingProxies } from '../../../storage/connections/proxies.js';
import { createLogger } from '../../../storage/log/log.js';
import type { WriteProgress } from '../../../storage/model/evidence.js';
import type { ConnectionRow } from '../../../storage/model/records.js';
import { Channel } from '../../../storage/process/channel.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { sessionContext } from '../../../storage/secrets/sealing.js';
import { freshDatabase } from '../../fixture/database.js';
import { eventually } from '../../fixture/eventually.js';
import { insertSocial, insertWorkspace, pinConnection } from '../../fixture/rows.js';
import { NO_SAVES } from '../no-saves.js';

type FailureCode = Extract<FromBrowser, { type: 'failure' }>['code'];

const silent = createLogger({ level: 'silent', format: 'json' }, {});

/** A runtime on a real database, and the other end of its channel, where the test answers as a browser host. */
async function fixture(
  t: Test,
  answer: (host: Channel<FromBrowser, ToBrowser>, message: ToBrowser) => void,
  ordered_runs?: number,
) {
  const { db } = await freshDatabase(t);
  const ring = keyRing([{ id: 'test', key: randomBytes(32) }]);
  const { id } = await insertSocial(db, await insertWorkspace(db), 'ada');
  const proxy = await addProxy(db, ring, { region: 'US', url: 'http://127.0.0.1:1' });
  await pinConnection(db, id, proxy.id);
  const sealed = ring.seal('{}', sessionContext(id));
  await db.query('testSession', 'update connection set session_sealed = $2 where id = $1', [id, sealed]);
  const [connection] = await db.query<ConnectionRow>('testConnection', 'select * from connection where id = $1', [id]);
  if (!connection) throw new Error('no connection');
  const { port1, port2 } = new MessageChannel();
  const host = new Channel<FromBrowser, ToBrowser>(port2);
  t.teardown(() => host.close());
  const received: string[] = [];
  host.onMessage((message) => {
    received.push(message.type);
    answer(host, message);
  });
  const link = new BrowserLink({ stopped_run_ms: 50, ...(ordered_runs && { ordered_runs }), renewed: () => {} });
  link.connect(port1);
  const execution: Execution = {
    operationId: randomUUID(),
    capability: capabilityNamed('social.message.send')!,
    input: { recipient_actor_id: 'ACoAAnobody', body: 'Hello' },
    connection,
    epoch: 1,
    signal: new AbortController().signal,
    remaining_ms: 300_000,
    boundary: () => Promise.resolve({ until_ns: 2n ** 62n, until_ms: Number.MAX_SAFE_INTEGER }),
    pauseClock: () => {},
    resumeClock: () => {},
    challenge: () => Promise.reject(new Error('no challenge was raised')),
    challengeEnded: () => {},
    storeFile: () => Promise.reject(new Error('no file was stored')),
    unverifyRecruiter: () => Promise.resolve(),
  };
  return {
    runtime: createSocialRuntime({
      ...{ db, ring, link: () => link, saves: NO_SAVES },
      proxies: new ProxyHealth(db, silent),
    }),
    execution,
    received,
    link,
    db,
  };
}

/** The answer of a host that ended the run because it was told to. */
const canceled = (run: number) =>
  ({ type: 'failure', run, code: 'canceled', transient: false, pastBoundary: false, unsent: false }) as const;

t.test('a write boundary that the database refuses ends the run with that error, not with a cancel', async (t) => {
  const { runtime, execution, received } = await fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type === 'cancel') host.send(canceled(message.run));
  });
  const lost = new Error('the connection to the database was lost');
  await t.rejects(runtime.run({ ...execution, boundary: () => Promise.reject(lost) }), lost);
  t.strictSame(received, ['run', 'cancel'], 'and the run was not let past it');
});

t.test('a look is ordered with what is sought, and is let past no boundary', async (t) => {
  const orders: unknown[] = [];
  const { runtime, execution, received } = await fixture(t, (host, message) => {
    if (message.type === 'run') {
      orders.push(message);
      host.send({ type: 'boundary', run: message.run });
    }
    if (message.type === 'cancel') host.send(canceled(message.run));
  });
  const sought = { kind: 'invitation', recipient_actor_id: 'ACoAAnobody' } as const;
  await t.rejects(runtime.look({ ...execution, sought, since_ms: 1 }), { message: 'a look only reads' });
  t.match(orders, [{ capability: 'look', input: { sought, since_ms: 1 } }]);
  t.notOk('credentials' in (orders[0] as object), 'without credentials');
  t.strictSame(received, ['run', 'cancel'], 'and never with a permission to send');
});

for (const reason of ['deadline', 'fenced'] as const) {
  t.test(`a look that is interrupted ends with the reason: ${reason}`, async (t) => {
    const stop = new AbortController();
    const { runtime, execution } = await fixture(t, (host, message) => {
      if (message.type === 'run') stop.abort(new Interrupted(reason));
      if (message.type === 'cancel') host.send(canceled(message.run));
    });
    const sought = { kind: 'invitation', recipient_actor_id: 'ACoAAnobody' } as const;
    const look = runtime.look({ ...execution, signal: stop.signal, sought, since_ms: 1 });
    await t.rejects(look, new Interrupted(reason));
  });
}

t.test('a run that its host does not end is given up', async (t) => {
  const stop = new AbortController();
  const { runtime, execution, received } = await fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type === 'proceed') stop.abort(new Interrupted('deadline'));
  });
  const write = await runtime.run({ ...execution, signal: stop.signal });
  const evidence = { request: { sent: 'unknown', at: null }, answer: null, fault: 'deadline_exceeded' };
  t.strictSame(write, { status: 'outcome_unknown', evidence }, 'a write past its boundary stays in question');
  t.strictSame(received, ['run', 'proceed', 'cancel']);
  const read = { ...execution, capability: capabilityNamed('social.identity.get')!, input: {}, signal: stop.signal };
  await t.rejects(runtime.run(read), new Interrupted('deadline'), 'a read ends for the reason it was stopped');
});

/** How a run fails past its boundary: with this code and details, its request answered with this status or not at all. */
const FAULTS: [code: FailureCode, details: object, status: number | null, fault: string][] = [
  ['upstream_error', { upstream_status: 503 }, 503, 'upstream_error'],
  ['upstream_error', { reason: 'connection_lost', upstream_status: null }, null, 'connection_lost'],
  ['upstream_error', { reason: 'connection_lost', upstream_status: null }, 200, 'connection_lost'],
  ['upstream_error', { reason: 'tls', upstream_status: null }, null, 'connection_lost'],
  ['upstream_timeout', {}, null, 'upstream_timeout'],
  ['parsing_error', { what: 'answer' }, 200, 'parsing_error'],
  ['provider_rate_limited', { upstream_status: 429 }, 429, 'upstream_error'],
  ['provider_not_found', { upstream_status: 404 }, 404, 'upstream_error'],
  ['browser_unavailable', { reason: 'lost' }, null, 'browser_unavailable'],
  ['session_fenced', {}, null, 'session_fenced'],
  ['deadline_exceeded', {}, null, 'deadline_exceeded'],
  ['internal_error', {}, null, 'internal_error'],
];

t.test('a write in question has evidence of how far its request came, and what ended it', async (t) => {
  let next = 0;
  const at = new Date().toISOString();
  const progressOf = (status: number | null): WriteProgress => ({
    request: { sent: 'yes', at },
    answer: status === null ? null : { status },
  });
  const { runtime, execution } = await fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type !== 'proceed') return;
    const [code, details, status] = FAULTS[next++]!;
    const failure = { type: 'failure', run: message.run, code, details: { ...details }, transient: false } as const;
    host.send({ ...failure, pastBoundary: true, unsent: false, progress: progressOf(status) });
  });
  for (const [code, details, status, fault] of FAULTS) {
    const evidence = { ...progressOf(status), fault };
    t.strictSame(
      await runtime.run(execution),
      { status: 'outcome_unknown', evidence },
      JSON.stringify([code, details]),
    );
  }
});

t.test('a refusal that proves that nothing was done says that the provider answered', async (t) => {
  const { runtime, execution } = await fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type !== 'proceed') return;
    const progress: WriteProgress = { request: { sent: 'yes', at: null }, answer: { status: 409 } };
    const details = { upstream_status: 409 };
    const failure = { type: 'failure', run: message.run, code: 'upstream_error', details, transient: false } as const;
    host.send({ ...failure, pastBoundary: false, unsent: false, progress });
  });
  t.match(await runtime.run(execution), { status: 'failed', failure: { code: 'upstream_error' }, answered: true });
});

t.test('the clock goes while the run has begun, and stands while it waits for its turn or a slot', async (t) => {
  const clock: string[] = [];
  const { runtime, execution, link } = await fixture(
    t,
    (host, message) => {
      if (message.type !== 'run') return;
      const { run } = message;
      clock.push('ordered');
      for (const running of [true, false, true]) host.send({ type: 'clock', run, running });
      host.send({ type: 'result', run, result: {} });
    },
    1,
  );
  const clocked = { ...execution, pauseClock: () => clock.push('stands'), resumeClock: () => clock.push('goes') };
  const giveBack = await link.turn('another', execution.signal);
  const ended = runtime.run(clocked as Execution);
  await eventually(
    'it waits',
    () => link.waiting,
    (waiting) => waiting === 1,
  );
  t.strictSame(clock, ['stands'], 'nothing is ordered before its turn');
  giveBack();
  await ended;
  t.strictSame(clock, ['stands', 'ordered', 'goes', 'stands', 'goes', 'goes']);
});

t.test(
  'an operation that is stopped while it waits for its turn leaves the queue, and one that asks its user gives it up',
  async (t) => {
    const { runtime, execution, link } = await fixture(
      t,
      (host, message) => {
        if (message.type === 'run') {
          host.send({ type: 'challenge', run: message.run, kind: 'email', acceptsCode: true });
        } else if (message.type === 'code') host.send({ type: 'result', run: message.run, result: {} });
      },
      1,
    );
    const asked = Promise.withResolvers<void>();
    const code = Promise.withResolvers<string>();
    const challenge = () => {
      asked.resolve();
      return code.promise;
    };
    const first = runtime.run({ ...execution, challenge });
    await asked.promise;
    const giveBack = await link.turn('another', execution.signal); // at once: the turn is free
    const stop = new AbortController();
    const second = runtime.run({ ...execution, signal: stop.signal });
    stop.abort(new Interrupted('canceled'));
    await t.rejects(second, new Interrupted('canceled'));
    t.equal(link.waiting, 0);
    code.resolve('123456');
    t.match(await first, { status: 'succeeded' }, 'it waits for no second turn');
    giveBack();
  },
);

t.test(
  "a burst of a hundred times what may be ordered fails nothing, and delays another workspace's run by a turn",
  async (t) => {
    const ordered_runs = 8;
    let held = 0;
    let most = 0;
    const order: string[] = [];
    const { runtime, execution } = await fixture(
      t,
      (host, message) => {
        if (message.type !== 'run') return;
        order.push(message.workspaceId);
        most = Math.max(most, ++held);
        setImmediate(() => {
          held--;
          host.send({ type: 'result', run: message.run, result: {} });
        });
      },
      ordered_runs,
    );
    const { connection } = execution;
    const burst = Array.from({ length: 100 * ordered_runs }, () => runtime.run(execution));
    const small = runtime.run({ ...execution, connection: { ...connection, workspace_id: 'small' } });
    t.match(await small, { status: 'succeeded' });
    // Its turn is among the second ones; those of behind it may read their rows sooner.
    t.ok(order.indexOf('small') <= 10 * ordered_runs, `the small workspace was number ${order.indexOf('small')}`);
    const ends = await Promise.all(burst);
    t.ok(ends.every(({ status }) => status === 'succeeded'));
    t.ok(most <= ordered_runs, `${most} orders at once`);
  },
);

t.test('a write of which nothing left may be tried again, and says so', async (t) => {
  const { runtime, execution } = await fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type !== 'proceed') return;
    t.same(
      message.permission,
      { until_ns: 2n ** 62n, until_ms: Number.MAX_SAFE_INTEGER },
      'the permission crosses threads',
    );
    const unsent = { transient: true, pastBoundary: false, unsent: true };
    host.send({ type: 'failure', run: message.run, code: 'session_fenced', ...unsent });
  });
  const outcome = { status: 'failed', transient: true, unsent: true, own: { wait_ms: 0 } };
  t.match(await runtime.run(execution), outcome, "however often: the trouble is not the operation's");
});

t.test('a proxy that runs cannot get through is told to operators, until one does', async (t) => {
  let code: FailureCode | undefined = 'proxy_error';
  const { runtime, execution, db } = await fixture(t, (host, message) => {
    if (message.type !== 'run') return;
    const { run } = message;
    const failure = { transient: true, pastBoundary: false, unsent: true, details: { reason: 'refused' } };
    if (code) host.send({ type: 'failure', run, code, ...failure });
    else host.send({ type: 'result', run, result: {} });
  });
  const failing = async () => (await listFailingProxies(db, 10)).map(({ failure }) => failure);
  await Promise.all([1, 2, 3, 4].map(() => runtime.run(execution)));
  const [{ failing_since } = {}] = await listFailingProxies(db, 10);
  t.strictSame(await failing(), ['refused']);
  await runtime.run(execution);
  t.strictSame((await listFailingProxies(db, 10))[0]?.failing_since, failing_since, 'since the first time');
  code = 'upstream_timeout';
  await runtime.run(execution);
  t.strictSame(await failing(), ['refused'], 'what says nothing of the proxy changes nothing');
  code = undefined;
  await runtime.run(execution);
  t.strictSame(await failing(), []);
});
