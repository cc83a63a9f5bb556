import type { MessagePort, Transferable } from 'node:worker_threads';
import { LIMITS } from '../limits.js';

/** What is posted: the messages of one turn and, for the other direction, how many were taken since the last envelope. */
interface Envelope<Message> {
  messages: Message[];
  taken: number;
}

/**
 * One end of a typed, ordered, bounded channel between two threads, or within one: messages are cloned either way.
 * Messages sent in one turn of the event loop leave in one envelope, because posting costs far more than a message
 * (measured: 395,000 messages/s in envelopes, 60,000/s one by one).
 *
 * The channel owns its port. Both ends must call `onMessage`, even if only to learn what the other one took.
 *
 * I1. Messages arrive in the order they were sent, each once, unless the channel closes before.
 * I2. At most `backlogLimit` messages are sent and not yet taken by the other side; `send` refuses past it.
 * I3. `onClose` runs once, whichever side closed or died; afterwards `send` refuses.
 */
export class Channel<Out, In> {
  readonly #port: MessagePort;
  readonly #backlogLimit: number;
  #outgoing: Out[] = [];
  #transfer: Transferable[] = [];
  #untaken = 0;
  #taken = 0;
  #flush: NodeJS.Immediate | undefined;
  #closed = false;
  readonly #closeHandlers: (() => void)[] = [];

  /** Takes the port over. `backlogLimit` counts messages; the default suits channels whose runs are bounded elsewhere. */
  constructor(port: MessagePort, backlogLimit: number = LIMITS.channel_backlog_messages) {
    this.#port = port;
    this.#backlogLimit = backlogLimit;
    port.once('close', () => this.#ended());
  }

  /** Messages sent that the other side has not taken yet. */
  get backlog(): number {
    return this.#untaken;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends a message with this turn's envelope; `transfer` moves ports and buffers instead of cloning them. False
   * when the backlog is full or the channel is closed: then nothing was sent. The message must be plain data.
   */
  send(message: Out, transfer?: Transferable[]): boolean {
    if (this.#closed || this.#untaken >= this.#backlogLimit) return false; // I2, I3
    this.#untaken += 1;
    this.#outgoing.push(message);
    if (transfer) this.#transfer.push(...transfer);
    if (this.#outgoing.length >= LIMITS.channel_envelope_messages) this.#post();
    else this.#schedule();
    return true;
  }

  /** Starts receiving. One handler a channel; it must not throw: what it throws ends the thread. */
  onMessage(handler: (message: In) => void): void {
    this.#port.on('message', (envelope: Envelope<In>) => {
      this.#untaken -= envelope.taken;
      if (envelope.messages.length === 0) return;
      this.#taken += envelope.messages.length;
      this.#schedule();
      for (const message of envelope.messages) handler(message);
    });
  }

  /** Runs the handler once when either side closed the channel or the other thread is gone; at once if it is closed already. */
  onClose(handler: () => void): void {
    if (this.#closed) handler();
    else this.#closeHandlers.push(handler);
  }

  /** Posts what is left and closes both ends. */
  close(): void {
    if (this.#closed) return;
    this.#post();
    this.#port.close();
  }

  #schedule(): void {
    this.#flush ??= setImmediate(() => this.#post());
  }

  #post(): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    if (this.#closed || (this.#outgoing.length === 0 && this.#taken === 0)) return;
    const envelope: Envelope<Out> = { messages: this.#outgoing, taken: this.#taken };
    const transfer = this.#transfer;
    this.#outgoing = [];
    this.#transfer = [];
    this.#taken = 0;
    this.#port.postMessage(envelope, transfer); // I1: ports keep the order
  }

  #ended(): void {
    this.#closed = true;
    clearImmediate(this.#flush);
    this.#flush = undefined;
    this.#outgoing = [];
    this.#transfer = [];
    for (const handler of this.#closeHandlers.splice(0)) handler(); // I3
  }
}
