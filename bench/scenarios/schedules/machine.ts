import { randomUUID } from 'node:crypto';
import fc, { type Scheduler } from 'fast-check';
import { type Database, openDatabase } from '../../../storage/postgres/database.js';
import { anyCue, CONNECTIONS, type Cue, commandWords } from './commands.js';
import { anyFault, type Fault, Faults } from './faults.js';
import { Gates } from './gates.js';
import { LIMITS, limitNodes } from './limits.js';
import { lay } from './rows.js';
import { Endless, Stage, takeTimers } from './stage.js';
import { World } from './world.js';

/** The partitions of the schedules; all others are nobody's. */
const PARTITIONS = [7, 42];

/** What one schedule is made of, beside the order of its steps. */
export interface Plan {
  /** How many there are; a command names one of more, which is taken modulo. */
  connections: number;
  partitions: number;
  /** A statement that ends more than one operation reaches its time limit. */
  heavyEnds: boolean;
  cues: Cue[];
  faults: Fault[];
}

/** `without`: commands and kinds of faults that are not to occur. */
const anyPlan = (without: readonly string[]): fc.Arbitrary<Plan> =>
  fc.record({
    connections: fc.constantFrom(1, 1, 1, 2, 2, CONNECTIONS),
    partitions: fc.constantFrom(1, 1, PARTITIONS.length),
    heavyEnds: without.includes('heavy_ends') ? fc.constant(false) : fc.constantFrom(false, false, false, true),
    cues: fc.array(anyCue(without), { minLength: 1, maxLength: LIMITS.commands, size: 'max' }),
    faults: fc.array(anyFault(without), { minLength: 1, maxLength: LIMITS.faults, size: 'max' }),
  });

/** A schedule that broke a promise. */
export class Broken extends Error {
  constructor(
    readonly breaches: string[],
    readonly steps: string[],
  ) {
    super(`${breaches.join('\n')}\n\n${steps.map((step) => `  ${step}`).join('\n')}`);
  }
}

/** Plays schedules on one database, one after the other. */
export class Machine implements AsyncDisposable {
  readonly #db: Database;
  readonly #pools: [Database, Database];
  readonly #gates: Gates;
  readonly #timers = takeTimers();
  readonly #unlimit = limitNodes();
  /** Steps of all schedules. */
  steps = 0;

  private constructor(db: Database, pools: [Database, Database], gates: Gates) {
    this.#db = db;
    this.#pools = pools;
    this.#gates = gates;
  }

  /** `url`: of a migrated database that is nobody else's. */
  static async open(url: string): Promise<Machine> {
    const { statement_ms } = LIMITS;
    const limits = { connect_ms: statement_ms, statement_ms, lock_ms: 0, idle_transaction_ms: statement_ms };
    const pool = (name: string) =>
      openDatabase({ url, limits, maxConnections: LIMITS.connections, applicationName: `schedules: ${name}` });
    return new Machine(pool('the tester'), [pool('A'), pool('B')], await Gates.open(url));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timers.giveBack();
    this.#unlimit();
    await Promise.all([this.#db, ...this.#pools].map((db) => db.close()));
    await this.#gates.end();
  }

  /** Plays one schedule. Throws `Broken`. */
  async play(scheduler: Scheduler, plan: Plan): Promise<void> {
    const first = randomUUID();
    const { cues, heavyEnds } = plan;
    const connections = heavyEnds ? CONNECTIONS : plan.connections; // ends of several meet in one statement
    const of = { partitions: PARTITIONS.slice(0, plan.partitions), connections, owner: first };
    const { owned, ...ground } = await lay(this.#db, of);
    const stage = new Stage(scheduler, () => this.#gates.waiting());
    const faults = new Faults(plan.faults, heavyEnds);
    const world = new World({
      stage,
      faults,
      gates: this.#gates,
      ground,
      first,
      owned,
      db: this.#db,
      pools: this.#pools,
    });
    this.#timers.play(stage);
    try {
      const breaches = await this.#playAll({ stage, faults, world, cues });
      if (breaches.length > 0) throw new Broken(breaches, stage.words);
    } catch (error) {
      throw error instanceof Endless ? new Broken([error.message], stage.words) : error;
    } finally {
      this.steps += stage.words.length;
      await this.#clear(stage, world);
      this.#timers.play(undefined);
    }
  }

  async #playAll({
    stage,
    faults,
    world,
    cues,
  }: {
    stage: Stage;
    faults: Faults;
    world: World;
    cues: Cue[];
  }): Promise<string[]> {
    faults.begin();
    let played = false;
    let resting: (() => void) | undefined;
    void (async () => {
      for (const { command, rested } of cues) {
        if (rested) await new Promise<void>((resolve) => (resting = resolve));
        await stage.step(commandWords(command));
        world.do(command);
      }
      played = true;
    })();
    for (let n = 1, last = 0; last < LIMITS.last_steps; n++) {
      if (stage.atRest && resting) {
        resting();
        resting = undefined;
        await stage.still();
      }
      if (stage.pending === 0) break;
      await stage.next();
      if (played) last++;
      if (n % LIMITS.probe_steps === 0) await world.probe();
      if (world.ledger.breaches.length > 0) return world.ledger.breaches;
    }
    faults.end();
    for (let round = 1; round <= LIMITS.calm_rounds; round++) {
      if (await world.round()) break;
      if (world.ledger.breaches.length > 0) return world.ledger.breaches;
    }
    await world.probe();
    return world.judge();
  }

  /** Ends what a schedule has left under way. */
  async #clear(stage: Stage, world: World): Promise<void> {
    world.end();
    await this.#gates.openAll();
    for (let n = 0; n < LIMITS.steps && stage.pending > 0; n++) await stage.release();
    await stage.answered();
  }
}

export interface Search {
  count: number;
  seed: number;
  /** Of a schedule that failed, to play it again. */
  path?: string;
  /** Commands and kinds of faults that are not to occur. */
  without?: readonly string[];
  /** Is told how many were played without a breach. */
  played?(schedules: number): void;
  /** Is told of the one that broke a promise, before it is made shorter. */
  broke?(after: number, broken: Broken): void;
}

/** A schedule that broke a promise, as short as it could be made. */
export interface Found {
  /** How many were played until it was found. */
  after: number;
  seed: number;
  path: string;
  plan: Plan;
  broken: Broken;
}

/** Plays schedules until one breaks a promise, and gives that one, shrunk for LIMITS.shrink_ms. */
export async function search(
  machine: Machine,
  { count, seed, path, without = [], played, broke }: Search,
): Promise<Found | undefined> {
  let after = 0;
  let until = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(fc.scheduler(), anyPlan(without), async (scheduler, plan) => {
    if (performance.now() > until) return;
    const shrinking = until !== Number.POSITIVE_INFINITY;
    if (!shrinking) after++;
    try {
      await machine.play(scheduler, plan);
      if (!shrinking) played?.(after);
    } catch (error) {
      if (!shrinking) {
        until = performance.now() + LIMITS.shrink_ms;
        if (error instanceof Broken) broke?.(after, error);
      }
      throw error;
    }
  });
  const { failed, errorInstance, counterexample, counterexamplePath } = await fc.check(property, {
    ...{ numRuns: count, seed },
    ...(path !== undefined && { path, endOnFailure: true }),
  });
  if (!failed) return undefined;
  if (!(errorInstance instanceof Broken)) throw errorInstance;
  const [, plan] = counterexample as [Scheduler, Plan];
  return { after, seed, path: counterexamplePath as string, plan, broken: errorInstance };
}
