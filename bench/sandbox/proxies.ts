import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type PrepareRequestFunction, Server as ProxyServer, RequestError } from 'proxy-chain';
import type { Certificate } from './certificate.js';
import type { Front } from './http/front.js';
import { LIMITS } from './limits.js';
import { steadyPort } from './steady-port.js';

export interface RegionalProxy {
  region: string;
  port: number;
  close(): Promise<void>;
}

/**
 * Opens the forward proxy of a region. A tunnel to the network's own hosts, under either name, ends in this process, at an https server
 * of that region's own: the site knows the region of a request by the server it arrived at. Other hosts are refused.
 *
 * `wanted.port` is taken when it is free, any other otherwise.
 */
export async function openRegionalProxy(
  wanted: { region: string; port: number; username: string; password: string },
  certificate: Certificate,
  front: Front,
): Promise<RegionalProxy> {
  const { region } = wanted;
  const site = createServer(
    { cert: certificate.cert, key: certificate.key, keepAliveTimeout: LIMITS.keep_alive_ms },
    (request, response) => void front.serve(region, request, response),
  );
  const prepareRequestFunction: PrepareRequestFunction = ({ username, password, hostname, port, isHttp }) => {
    if (username !== wanted.username || password !== wanted.password) return { requestAuthentication: true };
    if (isHttp || port !== 443 || !/^([a-z0-9-]+\.)*(social|guild)\.test$/i.test(hostname)) {
      throw new RequestError('This proxy leads to social.test only.', 403);
    }
    // Both kinds of server take a raw socket by `connection`; this one then speaks TLS on it.
    return { customConnectServer: site as unknown as HttpServer };
  };

  const open = async (port: number): Promise<ProxyServer> => {
    const proxy = new ProxyServer({ host: '127.0.0.1', port, prepareRequestFunction, authRealm: `social-${region}` });
    await proxy.listen();
    return proxy;
  };
  const proxy = await open(wanted.port || (await steadyPort())).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE' || error.code === 'EACCES') return open(0);
    throw error;
  });
  return { region, port: proxy.port, close: () => proxy.close(true) };
}
