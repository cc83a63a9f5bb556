/** Tells views when what they show has changed. */
export interface Live {
  /** Calls `changed` whenever something of this topic may have changed; gives the end of it. */
  on(topic: string, changed: () => void): () => void;
  /** `live`: what is shown is what is. `stale`: it was a while ago. `cut`: the service does not answer. */
  readonly state: 'live' | 'stale' | 'cut';
}

/** The topic of `state` itself. */
export const LIVE_STATE = 'live-state';

const ASK_AGAIN_ms = 5000;
const STALE_ms = 3 * ASK_AGAIN_ms;

/** Has every view ask anew while somebody looks at it. */
export class Polling implements Live {
  readonly #heard = new Map<string, Set<() => void>>();
  #state: Live['state'] = 'live';
  #answered_at = performance.now();

  /** Begins; gives the end of it. */
  start(): () => void {
    const timer = setInterval(() => this.#ask(), ASK_AGAIN_ms);
    const seen = () => this.#ask();
    document.addEventListener('visibilitychange', seen);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }

  get state(): Live['state'] {
    return this.#state;
  }

  on(topic: string, changed: () => void): () => void {
    const those = this.#heard.get(topic) ?? new Set();
    this.#heard.set(topic, those.add(changed));
    return () => those.delete(changed);
  }

  /** Of each request: whether an answer came. */
  note(answered: boolean): void {
    if (answered) this.#answered_at = performance.now();
    this.#become(answered ? 'live' : 'cut');
  }

  #ask(): void {
    if (this.#state === 'live' && performance.now() - this.#answered_at > STALE_ms) this.#become('stale');
    if (document.visibilityState !== 'visible') return;
    for (const [topic, those] of this.#heard) if (topic !== LIVE_STATE) for (const changed of [...those]) changed();
  }

  #become(state: Live['state']): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const changed of [...(this.#heard.get(LIVE_STATE) ?? [])]) changed();
  }
}
