/** Tells views when what they show has changed. */
export interface Live {
  /** Calls `changed` whenever something of this topic may have changed; gives the end of it. */
  on(topic: string, changed: () => void): () => void;
  /** `live`: what is shown is what is. `stale`: it was a while ago. `failing`: the service answers that it cannot. `cut`: it does not answer. */
  readonly state: 'live' | 'stale' | 'failing' | 'cut';
}

/** The topic of `state` itself. */
export const LIVE_STATE = 'live-state';

const ASK_AGAIN_ms = 5000;
/** While the service tells of changes: what it does not tell of, the state of a stream, is asked for so often. */
const ASK_RARELY_ms = 30_000;
/** Longer than the service is silent. */
const STALE_ms = { told: 35_000, asked: 3 * ASK_AGAIN_ms };
const OPEN_AGAIN_ms = { first: 1000, most: 30_000 };
const STATES = { answer: 'live', failure: 'failing', nothing: 'cut' } as const;

/** Has views ask anew when the service tells that something has changed (HTTP-29), and every few seconds while it does not tell, and somebody looks. */
export class Channel implements Live {
  readonly #heard = new Map<string, Set<() => void>>();
  #state: Live['state'] = 'live';
  #answered_at = performance.now();
  #asked_at = performance.now();
  /** The service tells of changes. */
  #told = false;

  /** Begins, in the workspace that an operator looks at; gives the end of it. */
  start(workspace: string | null): () => void {
    let stream: AbortController | undefined;
    const seen = () => {
      stream?.abort();
      stream = undefined;
      if (document.visibilityState !== 'visible') return;
      stream = new AbortController();
      void this.#follow(workspace, stream.signal);
      this.ask();
    };
    const timer = setInterval(() => this.#look(), ASK_AGAIN_ms);
    document.addEventListener('visibilitychange', seen);
    seen();
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', seen);
      stream?.abort();
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

  /** What came of a request. */
  note(what: 'answer' | 'failure' | 'nothing'): void {
    if (what === 'answer') this.#answered_at = performance.now();
    this.#become(STATES[what]);
  }

  /** Has every view ask anew. */
  ask(): void {
    this.#asked_at = performance.now();
    for (const topic of this.#heard.keys()) if (topic !== LIVE_STATE) this.#tell(topic);
  }

  /** Opens the stream again and again, the later the more often that fails. */
  async #follow(workspace: string | null, signal: AbortSignal): Promise<void> {
    let wait_ms = OPEN_AGAIN_ms.first;
    while (!signal.aborted) {
      const opened = await this.#read(workspace, signal).catch(() => this.#told);
      this.#told = false;
      if (signal.aborted) return;
      if (opened) this.ask(); // what was missed, and whether the session is there still
      wait_ms = opened ? OPEN_AGAIN_ms.first : Math.min(2 * wait_ms, OPEN_AGAIN_ms.most);
      await new Promise((resolve) => setTimeout(resolve, wait_ms * (0.5 + Math.random())));
    }
  }

  /** Until the stream ends; false: it was none. */
  async #read(workspace: string | null, signal: AbortSignal): Promise<boolean> {
    const headers = { 'Console-Request': '1', ...(workspace !== null && { 'Console-Workspace': workspace }) };
    const answer = await fetch('./console/live', { headers, signal });
    if (!answer.ok || !answer.body) return false;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return true;
      this.#told = true;
      this.#answered_at = performance.now();
      if (this.#state === 'stale') this.#become('live'); // of `failing` and `cut` an answer to a view is the end
      const events = (text + value).split('\n\n');
      text = events.pop() ?? '';
      for (const topic of events.flatMap(topicsOf)) this.#tell(topic);
    }
  }

  #look(): void {
    const silent_ms = performance.now() - this.#answered_at;
    if (silent_ms > STALE_ms[this.#told ? 'told' : 'asked']) {
      this.#told = false;
      if (this.#state === 'live') this.#become('stale');
    }
    const rarely = this.#told && this.#state === 'live' && performance.now() - this.#asked_at < ASK_RARELY_ms;
    if (!rarely && document.visibilityState === 'visible') this.ask();
  }

  #tell(topic: string): void {
    for (const changed of [...(this.#heard.get(topic) ?? [])]) changed();
  }

  #become(state: Live['state']): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#tell(LIVE_STATE);
  }
}

/** Of an event; comments have none. */
function topicsOf(event: string): string[] {
  const [, data] = /^event: changed\ndata: (.*)$/m.exec(event) ?? [];
  return data === undefined ? [] : (JSON.parse(data) as string[]);
}
