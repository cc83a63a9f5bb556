import { once } from 'node:events';
import { createServer } from 'node:http';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { type ProxyTrial, tryProxy } from '../../browser-pool/proxy-trial.js';
import { createLogger } from '../../storage/log/log.js';
import { authority } from '../fixture/certificates.js';
import { Network } from '../fixture/network.js';

const log = createLogger({ level: 'silent', format: 'json' }, {});

/** Listens until the test ends, and gives the port. */
async function listening(t: Test, server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  const open = new Set<Socket>();
  server.on('connection', (socket) => open.add(socket));
  t.teardown(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Bytes in both directions. */
function joined(one: Socket, other: Socket): void {
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  one.pipe(other).pipe(one);
}

t.test('a proxy is tried as the service and as a browser use it', async (t) => {
  const network = await Network.start();
  t.teardown(() => network.close());
  const { proxy, site } = network;
  const own = Number(new URL(proxy.server).port);
  const attempt = (changes: Partial<typeof proxy>): Promise<ProxyTrial> =>
    tryProxy(site, { ...proxy, ...changes }, { log, sandbox: 'auto' });
  const { username, password, ...anonymous } = proxy;

  t.strictSame(await attempt({}), { service: 'works', browser: 'works' });

  const relay = net.createServer((socket) => joined(socket, net.connect(own, '127.0.0.1')));
  const sixth = await listening(t, relay, '::1');
  t.strictSame(
    await attempt({ server: `http://[::1]:${sixth}` }),
    { service: 'works', browser: 'works' },
    'by an address of version 6',
  );

  t.strictSame(await attempt({ server: 'http://127.0.0.1:1' }), { service: 'unreachable', browser: 'not_tried' });
  t.strictSame(await attempt({ server: 'http://nowhere.invalid:8080' }), {
    service: 'unreachable',
    browser: 'not_tried',
  });

  await t.rejects(attempt({ password: 'guess%' }), { message: 'it refuses the name and the password' });
  await t.rejects(tryProxy(site, anonymous, { log, sandbox: 'auto' }), { message: 'it wants a name and a password' });
  await t.rejects(attempt({ server: `https://127.0.0.1:${own}` }), { message: /not a proxy of this kind/ });

  const web = await listening(
    t,
    createServer((_, response) => response.end('hello')),
  );
  await t.rejects(attempt({ server: `http://127.0.0.1:${web}` }), { message: /not a proxy of this kind/ });

  const closed = createServer();
  closed.on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await t.rejects(attempt({ server: `http://127.0.0.1:${await listening(t, closed)}` }), {
    message: /^it does not lead to [\w.]+: it answers with status 403$/,
  });

  const { cert, key } = await (await authority()).issue({ host: 'elsewhere.test' });
  const stranger = (await import('node:tls')).createServer({ cert, key });
  const strange = await listening(t, stranger);
  const misled = createServer();
  misled.on('connect', (_, socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    joined(socket, net.connect(strange, '127.0.0.1'));
  });
  await t.rejects(attempt({ server: `http://127.0.0.1:${await listening(t, misled)}` }), {
    message: /^what it leads to does not prove that it is /,
  });

  // Takes credentials that come unasked, as the service sends them, and does not ask for any: a browser sends none then.
  const silent = createServer();
  silent.on('connect', (request, socket: Socket) => {
    if (request.headers['proxy-authorization'] === undefined) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const onward = net.connect(own, '127.0.0.1');
    const { 'proxy-authorization': credentials } = request.headers;
    onward.write(
      `CONNECT ${request.url} HTTP/1.1\r\nHost: ${request.url}\r\nProxy-Authorization: ${credentials}\r\n\r\n`,
    );
    joined(socket, onward);
  });
  await t.rejects(attempt({ server: `http://127.0.0.1:${await listening(t, silent)}` }), {
    message: /^a browser cannot use it/,
  });
});
