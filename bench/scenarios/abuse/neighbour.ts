import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { ServiceApi } from '../../kit/api.js';
import { answering, serveCallbacks } from '../../kit/callback-server.js';
import { mapConcurrent } from '../../kit/map-concurrent.js';
import { arrivals } from './arrivals.js';
import { LIMITS } from './limits.js';
import type { FromNeighbour, Measured, Tenant, ToNeighbour } from './messages.js';
import { Phase } from './phase.js';

interface Reply {
  /** 0: none came. */
  status: number;
  body: { id?: string; status?: string };
  error?: unknown;
}

/**
 * The neighbour, as a process of its own: a light steady load of another workspace, sent when it is due whatever the answers take,
 * and timed from then.
 */
class Neighbour {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;
  readonly #connections: readonly string[];
  /** Operations to poll; the newest replace the oldest. */
  readonly #operations: string[];
  /** Callbacks that are waited for, by the number in their event. */
  readonly #expected = new Map<number, () => void>();
  #numbers = 0;

  private constructor(tenant: Tenant, connections: string[], operations: string[]) {
    const { answer_ms } = LIMITS;
    this.#pool = new Pool(tenant.url, {
      ...{ connections: LIMITS.neighbour_sockets, headersTimeout: answer_ms, bodyTimeout: answer_ms },
      connect: { timeout: answer_ms },
    });
    this.#headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' };
    this.#connections = connections;
    this.#operations = operations;
  }

  static async start(tenant: Tenant): Promise<Neighbour> {
    let neighbour: Neighbour | undefined;
    const { url } = await serveCallbacks(
      tenant.identity,
      answering(({ body }) => neighbour?.arrived(body)),
    );
    const api = new ServiceApi(tenant);
    const numbers = Array.from({ length: LIMITS.neighbour_connections }, (_, number) => number);
    const connections = await mapConcurrent(numbers, async (number) => {
      const external_actor = { kind: 'person', id: `neighbour-${number}` };
      const id = await api.connect({ provider: 'simulated', external_actor });
      await api.subscribe(id, `${url}/neighbour`, tenant.identity.secret);
      return id;
    });
    const operations = await mapConcurrent(connections, async (id) => (await api.run(id, 'social.identity.get')).id);
    neighbour = new Neighbour(tenant, connections, operations);
    return neighbour;
  }

  /** Works for so long; resolves when everything that was due has its answer, or has waited for it as long as it may. */
  async measure(seconds: number): Promise<Measured> {
    const phase = new Phase();
    await Promise.all([
      arrivals(LIMITS.submits_per_s, seconds, (dueAt) => this.#submit(phase, dueAt)),
      arrivals(LIMITS.polls_per_s, seconds, (dueAt) => this.#poll(phase, dueAt)),
      arrivals(LIMITS.waits_per_s, seconds, (dueAt) => this.#wait(phase, dueAt)),
      arrivals(LIMITS.callbacks_per_s, seconds, (dueAt) => this.#callback(phase, dueAt)),
    ]);
    return phase.end();
  }

  async #submit(phase: Phase, dueAt: number): Promise<void> {
    const reply = await this.#sendSubmission(phase);
    phase.ended('submit', dueAt, reply);
    if (reply.body.id === undefined) return;
    this.#operations.push(reply.body.id);
    if (this.#operations.length > LIMITS.polled_operations) this.#operations.shift();
  }

  async #poll(phase: Phase, dueAt: number): Promise<void> {
    const id = this.#operations[this.#numbers++ % this.#operations.length];
    phase.ended('poll', dueAt, await this.#send(phase, 'GET', `/v1/operations/${id}`));
  }

  /** From a submission to its end, as a client that waits for it learns of it. */
  async #wait(phase: Phase, dueAt: number): Promise<void> {
    let reply = await this.#sendSubmission(phase);
    while (reply.status < 300 && (reply.body.status === 'queued' || reply.body.status === 'running')) {
      reply = await this.#send(phase, 'GET', `/v1/operations/${reply.body.id}`, undefined, { prefer: 'wait=15' });
    }
    phase.ended('wait', dueAt, reply);
  }

  /** From an event to its callback. */
  async #callback(phase: Phase, dueAt: number): Promise<void> {
    const number = this.#numbers++;
    const arrived = Promise.withResolvers<boolean>();
    this.#expected.set(number, () => arrived.resolve(true));
    const body = { type: 'message_received', data: { number } };
    const reply = await this.#send(phase, 'POST', `/v1/connections/${this.#connection}/simulated-events`, body);
    const timer = setTimeout(() => arrived.resolve(false), LIMITS.answer_ms);
    const came = reply.status === 201 && (await arrived.promise);
    clearTimeout(timer);
    this.#expected.delete(number);
    phase.ended('callback', dueAt, reply.status === 201 && !came ? { status: 0, error: { code: 'TIMEOUT' } } : reply);
  }

  /** A callback came in. */
  arrived(body: Buffer): void {
    const { data } = JSON.parse(body.toString()) as { data: { number?: number } };
    if (data.number !== undefined) this.#expected.get(data.number)?.();
  }

  get #connection(): string {
    return this.#connections[this.#numbers % this.#connections.length] as string;
  }

  #sendSubmission(phase: Phase): Promise<Reply> {
    this.#numbers++;
    const body = { capability: 'social.identity.get', input: {} };
    const headers = { 'idempotency-key': randomUUID() };
    return this.#send(phase, 'POST', `/v1/connections/${this.#connection}/operations`, body, headers);
  }

  async #send(phase: Phase, method: 'GET' | 'POST', path: string, body?: object, more = {}): Promise<Reply> {
    try {
      const answer = await this.#pool.request({
        ...{ method, path, headers: { ...this.#headers, ...more } },
        ...(body && { body: JSON.stringify(body) }),
      });
      const reply = { status: answer.statusCode, body: (await answer.body.json()) as Reply['body'] };
      phase.answered(reply.status);
      return reply;
    } catch (error) {
      phase.unanswered(error);
      return { status: 0, body: {}, error };
    }
  }
}

const send = (message: FromNeighbour) => process.send?.(message);
let started: Neighbour | undefined;

async function obey(message: ToNeighbour): Promise<void> {
  switch (message.type) {
    case 'start':
      started = await Neighbour.start(message.tenant);
      send({ type: 'ready' });
      return;
    case 'measure':
      if (!started) throw new Error('the neighbour has not started');
      send({ type: 'measured', measured: await started.measure(message.seconds) });
      return;
    default:
      message satisfies never;
  }
}

process.on('message', (message: ToNeighbour) => void obey(message));
process.once('disconnect', () => process.exit());
