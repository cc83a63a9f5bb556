import type { SeededRandom } from '../../../sandbox/data/seeded-random.js';

/** A connection that is worked on. */
export interface Worked {
  connection_id: string;
  /** Simulated: as others write to it. Social: the username. */
  actor: string;
}

/** One submission as a client makes it. */
export interface Work {
  connection_id: string;
  capability: string;
  input: object;
  /** Found in the network's ledger when it was written. */
  marker: string | null;
  /** Ends (`outcome_unknown`, `skipped`, or the code of a failure) that its own words ask for. */
  expected?: string[];
}

/** Words for a message of a simulated connection, and how it ends by them. */
const TRIGGERS: [words: string, expected: string[]][] = [
  ['sim-unknown', ['outcome_unknown']],
  ['sim-rate-limited', ['provider_rate_limited']],
  ['sim-fail-provider_not_found', ['provider_not_found']],
  ['sim-upstream-503', ['upstream_error']],
  ['sim-skip-self_target', ['skipped']],
];

/** Work of a simulated connection: messages and invitations to others, reads, and operations whose words decide how they end. */
export function simulatedWork(random: SeededRandom, connections: readonly Worked[], number: number): Work {
  const { connection_id } = random.pick(connections);
  const recipient_actor_id = random.pick(connections).actor;
  const dice = random.next();
  const work = (capability: string, input: object, expected?: string[]): Work => {
    return { connection_id, capability, input, marker: null, ...(expected && { expected }) };
  };
  const message = (body: string, expected?: string[]) =>
    work('social.message.send', { recipient_actor_id, body: `${body} (number ${number})` }, expected);
  if (dice < 0.4) return message('Hello');
  if (dice < 0.46) return message(`Hello, later sim-delay-${random.between(50, 900)}`);
  if (dice < 0.5) return message(...random.pick(TRIGGERS));
  if (dice < 0.56) return work('social.invitation.send', { recipient_actor_id: `stranger-${number}` });
  if (dice < 0.7) return work('social.conversations.list', { count: 5 });
  if (dice < 0.85) return work('social.people.search', { keywords: 'engineer', count: 3 });
  return work('social.identity.get', {});
}

/** Most of the work goes to connections of the last second or so again; and the seconds between two long operations of a connection. */
const LATELY_s = 1.2;
const AGAIN = 0.7;
const BETWEEN_LONG_s = 12;

/**
 * The same with gaps of some milliseconds to a second between the operations of a connection, about as long as mailboxes are idle before they
 * are closed, and with some operations that take seconds: whatever becomes of their mailbox is seen while they run. A connection has no two of
 * these in a row, so that none waits for more than one.
 */
export class GappedWork {
  readonly #random: SeededRandom;
  readonly #connections: readonly Worked[];
  readonly #lately: Worked[] = [];
  /** Numbers of the last long operations, and how many others come between two of a connection. */
  readonly #longAt = new Map<string, number>();
  readonly #between: number;
  readonly #most: number;

  /** At so many a second. */
  constructor(random: SeededRandom, connections: readonly Worked[], rate: number) {
    this.#random = random;
    this.#connections = connections;
    this.#between = BETWEEN_LONG_s * rate;
    this.#most = Math.ceil(LATELY_s * rate);
  }

  next(number: number): Work {
    const free = this.#lately.filter(({ connection_id }) => !this.#mayBeBusy(connection_id, number));
    const again = this.#random.chance(AGAIN) && free.length > 0;
    const chosen = this.#random.pick(again ? free : this.#connections);
    this.#lately.push(chosen);
    if (this.#lately.length > this.#most) this.#lately.shift();
    const { connection_id } = chosen;
    const long = this.#random.chance(0.25) && !this.#mayBeBusy(connection_id, number);
    if (!long) return { ...simulatedWork(this.#random, this.#connections, number), connection_id };
    this.#longAt.set(connection_id, number);
    const body = `Hello, much later sim-delay-${this.#random.between(4_500, 5_500)} (number ${number})`;
    const input = { recipient_actor_id: this.#random.pick(this.#connections).actor, body };
    return { connection_id, capability: 'social.message.send', input, marker: null };
  }

  /** A long operation of it was not long ago. */
  #mayBeBusy(connection: string, number: number): boolean {
    return number - (this.#longAt.get(connection) ?? Number.NEGATIVE_INFINITY) <= this.#between;
  }
}

/** Work of a social connection on the network: mostly messages, each with words of its own. `person` is who gets them. */
export function socialWork(random: SeededRandom, connections: readonly Worked[], number: number, person: string): Work {
  const { connection_id } = random.pick(connections);
  const dice = random.next();
  const read = (capability: string, input: object): Work => ({ connection_id, capability, input, marker: null });
  if (dice < 0.6) {
    const marker = `<chaos ${number} ${random.between(0, 2 ** 31)}>`;
    const input = { recipient_actor_id: person, body: `Hello ${marker}` };
    return { connection_id, capability: 'social.message.send', input, marker };
  }
  if (dice < 0.75) return read('social.conversations.list', { count: 5 });
  if (dice < 0.85) return read('social.people.search', { keywords: 'engineer', count: 3 });
  if (dice < 0.93) return read('social.health.check', {});
  return read('social.identity.get', {});
}
