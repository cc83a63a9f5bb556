import { once } from 'node:events';
import typia from 'typia';

interface Answer {
  id: number;
  result?: unknown;
  error?: { message: string };
}

interface Notification {
  method: string;
  params: { sessionId: string; message?: string };
}

const isAnswer = typia.createIs<Answer>();
const isNotification = typia.createIs<Notification>();

/** Node's inspector protocol over its socket: to the main thread directly, to the others through it. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #workers: string[] = [];
  #next = 1;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
  }

  static async open(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await once(socket, 'open');
    return new Inspector(socket);
  }

  /** Names every other thread of the process. */
  async workers(): Promise<string[]> {
    await this.request('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return this.#workers;
  }

  async request(method: string, params: object, worker?: string): Promise<unknown> {
    const id = this.#next++;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    const message = JSON.stringify({ id, method, params });
    if (worker === undefined) this.#socket.send(message);
    else {
      const order = { method: 'NodeWorker.sendMessageToWorker', params: { sessionId: worker, message } };
      this.#socket.send(JSON.stringify({ id: this.#next++, ...order }));
    }
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  close(): void {
    this.#socket.close();
  }

  #receive(text: string): void {
    const message: unknown = JSON.parse(text);
    if (isAnswer(message)) {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    } else if (isNotification(message)) {
      const { sessionId, message: inner } = message.params;
      if (message.method === 'NodeWorker.attachedToWorker') this.#workers.push(sessionId);
      if (message.method === 'NodeWorker.receivedMessageFromWorker' && inner !== undefined) this.#receive(inner);
    }
  }
}
