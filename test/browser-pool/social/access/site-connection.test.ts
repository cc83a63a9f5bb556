import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { FaultyLink } from '../../../../bench/scenarios/chaos/link.js';
import { RunFailure } from '../../../../browser-pool/failures.js';
import { SiteConnection } from '../../../../browser-pool/social/access/site-connection.js';
import { UNKNOWN_PROGRESS } from '../../../../storage/model/evidence.js';
import { eventually } from '../../../fixture/eventually.js';
import { Network } from '../../../fixture/network.js';

const never = new AbortController().signal;
const PERMISSION = { until_ns: 2n ** 62n, until_ms: Number.MAX_SAFE_INTEGER };
const RUN = { progress: { ...UNKNOWN_PROGRESS }, request_ms: () => 10_000 };
const REQUEST = { path: '/api/messages', headers: {}, body: '{}' };

/** A proxy that answers CONNECT with this, or never, and is silent from then on. */
async function silentProxy(t: Test, answer?: string) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.once('data', () => answer !== undefined && socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { open, proxy: { id: 'silent', server: `http://127.0.0.1:${port}` } };
}

t.test('the connection of a write', async (t) => {
  const network = await Network.start();
  t.teardown(() => network.close());
  const { site, proxy } = network;

  t.test('that ends in any of its states ends clean, again and again', async (t) => {
    const connecting = await silentProxy(t);
    const tunnelled = await silentProxy(t, 'HTTP/1.1 200 OK\r\n\r\n');
    for (const silent of [connecting, tunnelled]) {
      for (let n = 0; n < 20; n++) {
        const stop = new AbortController();
        const opening = SiteConnection.open(site, silent.proxy, stop.signal, 10_000);
        await eventually(
          'a tunnel is asked for',
          () => silent.open.size,
          (open) => open > 0,
        );
        stop.abort(new RunFailure('deadline_exceeded'));
        await t.rejects(opening, { code: 'deadline_exceeded' });
        await eventually(
          'nothing of it is left',
          () => silent.open.size,
          (open) => open === 0,
        );
      }
      await t.rejects(SiteConnection.open(site, silent.proxy, never, 50), {
        code: 'upstream_timeout',
        transient: true,
      });
      await eventually(
        'nothing of it is left',
        () => silent.open.size,
        (open) => open === 0,
      );
    }
    for (let n = 0; n < 20; n++) {
      const stop = new AbortController();
      const idle = await SiteConnection.open(site, proxy, stop.signal, 10_000);
      if (n % 2 === 0) stop.abort(new RunFailure('session_fenced'));
      else idle.close();
      await t.rejects(idle.post(site, REQUEST, PERMISSION, RUN), { name: 'Error', unsent: true });
      idle.close();
    }
    t.same(RUN.progress, UNKNOWN_PROGRESS, 'of what did not begin to leave nothing is told');
  });

  t.test('tells that a request which the network does not take whole has left in part', async (t) => {
    const link = await FaultyLink.open(Number(new URL(proxy.server).port));
    t.teardown(() => link.close());
    const behind = { ...proxy, server: `http://127.0.0.1:${link.port}` };
    const connection = await SiteConnection.open(site, behind, never, 10_000);
    link.stall('up');
    const run = { progress: { ...UNKNOWN_PROGRESS }, request_ms: () => 500 };
    const before = new Date().toISOString();
    const large = { ...REQUEST, body: 'x'.repeat(50_000_000) };
    await t.rejects(connection.post(site, large, PERMISSION, run), { code: 'upstream_timeout', unsent: false });
    t.match(run.progress, { request: { sent: 'partly' }, answer: null });
    t.ok((run.progress.request.at ?? '') >= before);
    connection.close();
  });

  t.test('is reset when its run ends: what has not left by then never does', async (t) => {
    const link = await FaultyLink.open(Number(new URL(proxy.server).port));
    t.teardown(() => link.close());
    const behind = { ...proxy, server: `http://127.0.0.1:${link.port}` };
    const stop = new AbortController();
    const connection = await SiteConnection.open(site, behind, stop.signal, 10_000);
    link.stall('up');
    const run = { progress: { ...UNKNOWN_PROGRESS }, request_ms: () => 600_000 };
    const posted = connection.post(site, { ...REQUEST, body: 'x'.repeat(50_000_000) }, PERMISSION, run);
    stop.abort(new RunFailure('session_fenced'));
    await t.rejects(posted, { code: 'session_fenced', unsent: false });
    link.pass();
    const answered = { ...UNKNOWN_PROGRESS, request: run.progress.request };
    t.same(run.progress, answered, 'nobody answers a request of which only a part came');
    t.match(run.progress.request, { sent: 'partly' });
    connection.close();
  });

  t.test('is refused by a proxy that does not let it through, and by a site that is another', async (t) => {
    const open = (changes: object, to = site) => SiteConnection.open(to, { ...proxy, ...changes }, never, 10_000);
    await t.rejects(open({ password: 'wrong' }), {
      code: 'proxy_error',
      details: { reason: 'refused' },
      transient: false,
    });
    const gone = open({ server: 'http://127.0.0.1:9' });
    await t.rejects(gone, { code: 'proxy_error', details: { reason: 'unreachable' }, transient: true });
    await t.rejects(open({}, { ...site, origin: 'https://social.test.example' }), { code: 'proxy_error' });
    const { ca: _, ...untrusted } = site;
    await t.rejects(open({}, untrusted), { code: 'upstream_error', details: { reason: 'tls' }, definite: true });
    const broken = await silentProxy(t, 'HTTP/1.1 200 OK\r\n\r\nthis is no TLS');
    await t.rejects(SiteConnection.open(site, broken.proxy, never, 10_000), { code: 'upstream_error' });
  });
});
