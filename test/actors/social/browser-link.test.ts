import { MessageChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { BrowserLink } from '../../../actors/social/browser-link.js';
import type { RunOwner } from '../../../actors/social/linked-run.js';
import type { FromBrowser, RunOrder, ToBrowser } from '../../../browser-pool/messages.js';
import { Channel } from '../../../storage/process/channel.js';

const ORDER: RunOrder = {
  workspaceId: 'workspace',
  connectionId: 'connection',
  stateRevision: 1,
  epoch: 1,
  capability: 'social.message.send',
  input: {},
  proxy: { id: 'proxy', server: 'http://127.0.0.1:9' },
  session: null,
  actorId: null,
  deadline_ms: 60_000,
};

const PERMISSION = { until_ns: 2n ** 62n, until_ms: Number.MAX_SAFE_INTEGER };

const OWNER: RunOwner = {
  signal: new AbortController().signal,
  boundary: () => Promise.resolve(PERMISSION),
  pauseClock: () => {},
  resumeClock: () => {},
  storeFile: () => Promise.resolve(),
  unverifyRecruiter: () => Promise.resolve(),
  challenge: () => Promise.resolve('123456'),
  challengeEnded: () => {},
};

/** A link, and the host's end of its channel, which answers each message as the test has it. */
function fixture(t: Test, answer: (host: Channel<FromBrowser, ToBrowser>, message: ToBrowser) => void) {
  const { port1, port2 } = new MessageChannel();
  const host = new Channel<FromBrowser, ToBrowser>(port2);
  t.teardown(() => host.close());
  const received: string[] = [];
  host.onMessage((message) => {
    received.push(message.type);
    answer(host, message);
  });
  const link = new BrowserLink({ stopped_run_ms: 60_000, renewed: () => {} });
  link.connect(port1);
  return { link, received };
}

t.test('the owner answers what a run asks', async (t) => {
  const stored: string[] = [];
  const { link, received } = fixture(t, (host, message) => {
    if (message.type === 'close' || message.type === 'retire') return;
    const { run } = message;
    if (message.type === 'run') host.send({ type: 'challenge', run, kind: 'email', acceptsCode: true });
    if (message.type === 'code') host.send({ type: 'file', run, bytes: new TextEncoder().encode(message.code).buffer });
    if (message.type === 'stored') host.send({ type: 'boundary', run });
    if (message.type === 'proceed') host.send({ type: 'result', run, result: { sent: true } });
  });
  const end = await link.run(ORDER, { ...OWNER, storeFile: async (bytes) => void stored.push(bytes.toString()) });
  t.match(end, { type: 'result', result: { sent: true } });
  t.same(stored, ['123456']);
  t.same(received, ['run', 'code', 'stored', 'proceed']);
});

t.test('a host that is lost ends its runs: transient before the boundary, in question past it', async (t) => {
  const before = fixture(t, (host, message) => message.type === 'run' && host.close());
  const lost = { type: 'failure', code: 'browser_unavailable', details: { reason: 'browser_host_lost' } };
  t.match(await before.link.run(ORDER, OWNER), { ...lost, transient: true, pastBoundary: false });
  t.match(await before.link.run(ORDER, OWNER), { ...lost, transient: true }, 'and there is no host for the next one');
  const past = fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type === 'proceed') host.close();
  });
  t.match(await past.link.run(ORDER, OWNER), { ...lost, transient: false, pastBoundary: true });
});

t.test('a run that is stopped twice is cancelled once, and ends as its host ends it', async (t) => {
  const stop = new AbortController();
  const { link, received } = fixture(t, (host, message) => {
    if (message.type === 'run') host.send({ type: 'boundary', run: message.run });
    if (message.type === 'cancel') host.send({ type: 'result', run: message.run, result: {} });
  });
  const refuse = () => {
    stop.abort();
    return Promise.reject(new Error('stopped'));
  };
  const end = await link.run(ORDER, { ...OWNER, signal: stop.signal, boundary: refuse });
  t.equal(end.type, 'result', 'a result that came before the cancel counts');
  t.same(received, ['run', 'cancel']);
});

t.test('an operation that was stopped before its run began cancels the run at once', async (t) => {
  const { link, received } = fixture(t, (host, message) => {
    if (message.type !== 'cancel') return;
    host.send({
      type: 'failure',
      run: message.run,
      code: 'canceled',
      transient: false,
      pastBoundary: false,
      unsent: false,
    });
  });
  t.match(await link.run(ORDER, { ...OWNER, signal: AbortSignal.abort() }), { code: 'canceled' });
  t.same(received, ['run', 'cancel']);
});
