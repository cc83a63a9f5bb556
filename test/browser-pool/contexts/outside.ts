import { createHash, X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Test } from 'tap';
import { selfSigned } from '../../fixture/certificates.js';

/** What a page must not reach: counts whatever arrives by any way but a proxy. */
export interface Outside {
  /** Listens for UDP and TCP. */
  host: string;
  port: number;
  /** The port of an HTTP server on loopback, as a service's metrics are. */
  metricsPort: number;
  /** What arrived, by the way it came. */
  readonly arrived: { udp: number; tcp: number; metrics: number };
}

/** A second address of this machine, where only what passes the proxy arrives. */
const HOST = '127.0.0.2';

export async function openOutside(t: Test): Promise<Outside> {
  const arrived = { udp: 0, tcp: 0, metrics: 0 };
  const tcp = createServer((socket) => {
    arrived.tcp += 1;
    socket.destroy();
  });
  const { port } = await listening(t, tcp, HOST);
  const udp = createSocket('udp4', () => {
    arrived.udp += 1;
  });
  udp.bind(port, HOST);
  await once(udp, 'listening');
  t.teardown(() => udp.close());
  const metrics = createServer((socket) => {
    arrived.metrics += 1;
    socket.destroy();
  });
  const { port: metricsPort } = await listening(t, metrics, '127.0.0.1');
  return { host: HOST, port, metricsPort, arrived };
}

/** A site over HTTPS that only a proxy leads to. */
export interface HiddenSite {
  origin: string;
  proxyPort: number;
  /** Of the same proxy, spoken to over TLS. */
  secureProxyPort: number;
  /** Of the site's key, for the browser's argument. */
  spki: string;
  /** What the proxy was asked for, as `host:port`. */
  readonly asked: string[];
}

/** `page` is the document of every address of the site. The proxy leads nowhere else. */
export async function openHiddenSite(t: Test, name: string, page: () => string): Promise<HiddenSite> {
  const certificate = await selfSigned({ host: name });
  const site = createHttpsServer(certificate, (request, response) => {
    const script = request.url?.endsWith('.js');
    response.setHeader('alt-svc', 'h3=":443"; ma=3600');
    response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
    response.end(script ? '' : page());
  });
  const asked: string[] = [];
  const tunnels = new Set<Duplex>();
  const refuse = (request: IncomingMessage, response: ServerResponse) => {
    asked.push(new URL(request.url ?? '').host);
    response.writeHead(403).end();
  };
  const lead = (request: IncomingMessage, socket: Duplex) => {
    asked.push(request.url ?? '');
    socket.on('error', () => {});
    tunnels.add(socket);
    if (request.url !== `${name}:443`) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    site.emit('connection', socket);
  };
  const proxies = [createHttpServer(refuse), createHttpsServer(certificate, refuse)] as const;
  const [proxyPort, secureProxyPort] = await Promise.all(
    proxies.map(async (proxy) => (await listening(t, proxy.on('connect', lead), '127.0.0.1')).port),
  );
  t.teardown(() => {
    for (const tunnel of tunnels) tunnel.destroy();
    for (const proxy of proxies) proxy.closeAllConnections();
  });
  const key = new X509Certificate(certificate.cert).publicKey.export({ type: 'spki', format: 'der' });
  return {
    origin: `https://${name}`,
    proxyPort: proxyPort ?? 0,
    secureProxyPort: secureProxyPort ?? 0,
    spki: createHash('sha256').update(key).digest('base64'),
    asked,
  };
}

async function listening(t: Test, server: Server | HttpServer, host: string): Promise<AddressInfo> {
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => server.close());
  return server.address() as AddressInfo;
}
