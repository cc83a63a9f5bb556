import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What may be held: what the node says (up), what the database answers (down), or both. */
export type Stalled = 'up' | 'down' | 'both';

/**
 * The link of a node to its database, which can fail by halves: a relay on loopback.
 *
 * I1. While it stalls a direction, nothing of that direction arrives, not even that a side has gone; nothing is lost.
 * I2. A connection that lived while the link was deaf is never whole again: it is cut when the link is told anything else.
 * I3. What it is told holds for the connections that come later as well.
 */
export class FaultyLink {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #mode: Mode = 'pass';
  #refusing = false;
  /** Connections that were cut because it refuses. */
  refused = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** A link to this port of 127.0.0.1, which passes everything until it is told otherwise. */
  static async open(targetPort: number): Promise<FaultyLink> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const link = new FaultyLink(server);
    server.on('connection', (socket) => link.#accept(socket, targetPort));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return link;
  }

  /** Where the node connects to, on 127.0.0.1. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address of the database of `url` behind this link: over TCP, even where a socket leads to it as well. */
  through(url: string): string {
    const address = new URL(url);
    address.host = `127.0.0.1:${this.port}`;
    address.search = '';
    return address.href;
  }

  /** Connections that are open on either side. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Delivers what was held, and everything from now on. */
  pass(): void {
    this.#enter('pass');
  }

  /** Holds what is said this way until `pass()`. */
  stall(way: Stalled): void {
    this.#enter(way);
  }

  /** What the node says arrives; what the database answers is lost. `pass()` cuts what was open meanwhile. */
  deaf(): void {
    this.#enter('deaf');
  }

  /** Destroys every connection, held bytes included; new ones may come. */
  cut(): void {
    for (const pair of this.#pairs) pair.cut();
  }

  /** Cuts, and cuts every connection that comes until `accept()`. */
  refuse(): void {
    this.#refusing = true;
    this.cut();
  }

  accept(): void {
    this.#refusing = false;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  #enter(mode: Mode): void {
    this.#mode = mode;
    for (const pair of this.#pairs) pair.enter(mode);
  }

  #accept(node: Socket, targetPort: number): void {
    if (this.#refusing) {
      this.refused++;
      node.resetAndDestroy();
      return;
    }
    const database = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const pair = new Pair(node, database, this.#mode, () => this.#pairs.delete(pair));
    this.#pairs.add(pair); // I3
  }
}

type Mode = 'pass' | 'deaf' | Stalled;

/** One connection: the node's side and the database's side of it. */
class Pair {
  readonly #node: Socket;
  readonly #database: Socket;
  #mode: Mode;

  constructor(node: Socket, database: Socket, mode: Mode, onClosed: () => void) {
    this.#node = node;
    this.#database = database;
    this.#mode = mode;
    this.#relay(node, database, 'up');
    this.#relay(database, node, 'down');
    for (const socket of [node, database]) {
      socket.on('close', () => {
        if (node.closed && database.closed) onClosed();
      });
    }
    this.enter(mode);
  }

  enter(mode: Mode): void {
    const wasDeaf = this.#mode === 'deaf';
    this.#mode = mode;
    if (wasDeaf && mode !== 'deaf') {
      this.cut(); // I2: what followed a lost answer would be read as something else
      return;
    }
    this.#settle(this.#node, this.#database, 'up');
    this.#settle(this.#database, this.#node, 'down');
  }

  cut(): void {
    for (const socket of [this.#node, this.#database]) {
      // A socket that is being ended takes no reset: it would never be closed, and keep the process from its end.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  #relay(from: Socket, to: Socket, way: 'up' | 'down'): void {
    from.on('data', (chunk: Buffer) => {
      if (way === 'down' && this.#mode === 'deaf') return;
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => this.#settle(from, to, way));
    from.on('end', () => {
      if (way === 'up' || this.#mode !== 'deaf') to.end();
    });
    from.on('error', () => {}); // its close follows
    from.on('close', () => this.#settle(from, to, way));
  }

  /** Lets this direction go on, or holds it (I1). */
  #settle(from: Socket, to: Socket, way: 'up' | 'down'): void {
    const held = this.#mode === way || this.#mode === 'both';
    const lost = way === 'down' && this.#mode === 'deaf';
    if (held) from.pause();
    else if (from.destroyed) {
      if (!lost) to.destroySoon();
    } else if (!to.writableNeedDrain || lost) from.resume();
  }
}
