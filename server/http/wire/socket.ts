import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { LIMITS } from '../limits.js';
import { checkBinary } from './binaries.js';
import type { ConnectionCount } from './connection-count.js';
import { HttpExchange } from './exchange.js';

/*
 * The listening socket of uWebSockets.js. With `exchange.ts` it is the only file that touches the library.
 *
 * I1. The native part reads its bound of headers from the environment when it is loaded: the variable is set before the import.
 * I2. Closing the listening socket keeps the connections, which `refuse` is for; `close` closes the app, and with it them all.
 * I3. Ports are shared (SO_REUSEPORT) unless asked otherwise: a second service on the port would take half its requests.
 * I4. Nothing can refuse a connection before it is accepted: one too many is closed as it opens, so that descriptors never run out.
 *     Without one, the loop would be woken for it for ever.
 * I5. Answers do not name the library and its version, but for those that it makes itself.
 *
 * What the library does by itself:
 * - Broken framing (chunks, lengths, no Host) is answered 400 with a body of its own; the request is aborted.
 * - What is above U+007F at either end of a header's value is cut off, as white space is: `clé` comes as `cl`, `é` as nothing.
 * - A header without a name (`: x`) hides all that are behind it, lengths too.
 * - It closes a connection on which a second request comes before the first is answered (pipelining).
 */
/** The key of the library's switch that leaves its header out. */
const SILENT = '999999990007';

process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(LIMITS.headers_bytes); // I1
checkBinary();
const uws = await import('uWebSockets.js');
(uws as unknown as Silenceable)._cfg(SILENT); // I5

interface Silenceable {
  _cfg(key: string): void;
}

/** What `app.listen` takes beside what its types declare. */
interface ListenExclusively {
  listen(host: string, port: number, options: number, listening: (socket: us_listen_socket | false) => void): void;
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT. */
const EXCLUSIVE_PORT = 1;

export interface Listening {
  port: number;
  /** From now on nobody connects; what is connected stays. */
  refuse(): void;
  /** Closes the listening socket and every connection, whatever they are doing. */
  close(): void;
}

/**
 * Listens on host and port (0: a free one) and hands every request to `handle`, which must call `receive` before it
 * returns. Rejects with one Error when the port cannot be had.
 */
export async function listen(
  host: string,
  port: number,
  connections: ConnectionCount,
  handle: (exchange: HttpExchange) => void,
): Promise<Listening> {
  const app: TemplatedApp = uws.App();
  const count = (res: HttpResponse, opened: number) => {
    if (opened < 0) connections.closed();
    else if (!connections.opened()) res.close(); // I4
  };
  app.filter(count);
  app.any('/*', (res, req) => handle(new HttpExchange(res, req)));
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    (app as unknown as ListenExclusively).listen(host, port, EXCLUSIVE_PORT, resolve); // I3
  });
  if (!socket) throw new Error(`cannot listen on ${host}:${port}: the port is in use or the address is not ours`);
  let listens = true;
  return {
    port: uws.us_socket_local_port(socket),
    refuse() {
      if (listens) uws.us_listen_socket_close(socket); // I2
      listens = false;
    },
    close: () => void app.close(), // I2
  };
}
