import { getPriority, setPriority } from 'node:os';
import type { Attack } from './attack.js';
import { attackNamed } from './attacks.js';
import { Force } from './force.js';
import { LIMITS } from './limits.js';
import type { FromAttacker, ToAttacker } from './messages.js';

/** As the system counts: the larger, the less preferred. */
const LEAST_PRIORITY = 19;

/** The attacker, as a process of its own: one attack, from its setting up to its clearing away. */
class Attacker {
  readonly #attack: Attack;
  readonly #force: Force;
  readonly #things: never;
  readonly note: string;

  private constructor(attack: Attack, force: Force, things: unknown, note: string) {
    this.#attack = attack;
    this.#force = force;
    this.#things = things as never;
    this.note = note;
  }

  static async prepare({ attack: name, tenant, rows }: Extract<ToAttacker, { type: 'prepare' }>): Promise<Attacker> {
    const attack = attackNamed(name);
    if (!attack) throw new Error(`there is no attack ${name}`);
    const force = new Force(tenant);
    const { things, note = '' } = await attack.prepare(force, rows);
    return new Attacker(attack, force, things, note);
  }

  async attack(seconds: number): Promise<void> {
    const done = await this.#force.during(seconds, () => this.#attack.attack(this.#force, this.#things));
    send({ type: 'attacked', attacked: { ...done, note: this.note } });
  }

  async clear(): Promise<void> {
    const cleared = async () => this.#attack.clear?.(this.#force, this.#things);
    const failure = await cleared().then(
      () => null,
      (error: unknown) => String(error),
    );
    send({ type: 'cleared', failure });
  }
}

const send = (message: FromAttacker) => process.send?.(message);
let attacker: Attacker | undefined;

async function obey(message: ToAttacker): Promise<void> {
  switch (message.type) {
    case 'prepare':
      attacker = await Attacker.prepare(message);
      // Not before: what is put in place is not measured.
      setPriority(Math.min(LEAST_PRIORITY, getPriority() + LIMITS.attacker_nice));
      send({ type: 'prepared', note: attacker.note });
      return;
    case 'attack':
      await attacker?.attack(message.seconds);
      return;
    case 'clear':
      await attacker?.clear();
      return;
    default:
      message satisfies never;
  }
}

process.on('message', (message: ToAttacker) => void obey(message));
process.once('disconnect', () => process.exit());
