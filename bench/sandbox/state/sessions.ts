import { randomBytes } from 'node:crypto';

/** A signed-in browser. Lives until it is ended; outlives a restart of the network. */
export interface Session {
  token: string;
  csrf: string;
  username: string;
  /** Where it was opened: a request from any other region ends it. */
  region: string;
}

/** A token or an id that cannot be guessed. */
export function unguessable(): string {
  return randomBytes(24).toString('base64url');
}

/** Live sessions by token. Owns them; what stays open for a session subscribes to its end. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #fresh = new Set<string>();
  /** Requests of each since its cookie is the one it is. */
  readonly #requests = new WeakMap<Session, number>();
  readonly #onEnd: ((session: Session) => void)[] = [];

  find(token: string): Session | undefined {
    return this.#sessions.get(token);
  }

  of(username: string): Session[] {
    return [...this.#sessions.values()].filter((session) => session.username === username);
  }

  onEnd(listener: (session: Session) => void): void {
    this.#onEnd.push(listener);
  }

  /** Marks a session whose feed was not seen yet: its first load still belongs to the sign-in. */
  markFresh(token: string): void {
    this.#fresh.add(token);
  }

  isFresh(token: string): boolean {
    return this.#fresh.has(token);
  }

  feedSeen(token: string): void {
    this.#fresh.delete(token);
  }

  /** Counts a request; gives how many came since the session's cookie is the one it is. */
  count(session: Session): number {
    const requests = (this.#requests.get(session) ?? 0) + 1;
    this.#requests.set(session, requests);
    return requests;
  }

  /** The session goes on under another token: what holds the old one is signed out. */
  applyRenewed(token: string, renewed: string): void {
    const session = this.#sessions.get(token);
    if (session === undefined) return;
    this.#sessions.delete(token);
    if (this.#fresh.delete(token)) this.#fresh.add(renewed);
    session.token = renewed;
    this.#sessions.set(renewed, session);
    this.#requests.delete(session);
  }

  applyOpened(session: Session): void {
    this.#sessions.set(session.token, session);
  }

  applyEnded(token: string): void {
    const session = this.#sessions.get(token);
    if (session === undefined) return;
    this.#sessions.delete(token);
    this.#fresh.delete(token);
    for (const listener of this.#onEnd) listener(session);
  }
}
