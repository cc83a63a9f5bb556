import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { machine } from '../../kit/machine.js';
import type { Evidence } from '../chaos/evidence.js';
import { LoadProcess } from '../chaos/load/load.js';
import type { LoadProgress } from '../chaos/load/messages.js';
import { makeAccounts } from '../chaos/parts/accounts.js';
import { admin } from '../chaos/parts/admin.js';
import type { OwnEnd } from '../chaos/parts/node.js';
import { PROGRAM } from '../chaos/parts/program.js';
import { Sampler } from '../chaos/parts/samples.js';
import { Started } from '../chaos/parts/started.js';
import { startWorld, type World } from '../chaos/parts/world.js';
import { collect, settle } from '../chaos/run.js';
import { LIMITS } from './limits.js';
import { endedBy, type Restart, restart, type Step } from './restart.js';

export interface RollingOptions {
  seed: number;
  nodes: number;
  connections: number;
  social: number;
  /** Submissions a second, to simulated and to social connections. */
  rate: number;
  social_rate: number;
  /** Seconds between two restarts. */
  hold: number;
  /** Seconds that deliveries get to end after the operations did. */
  settle: number;
}

/** Operations that ended while nodes of both versions ran, by the version of the node that ran them. */
export interface SideBySide {
  former: number;
  next: number;
}

/** What a run leaves. */
export interface RollingRun {
  evidence: Evidence;
  restarts: Restart[];
  sideBySide: SideBySide;
  /** Values that `encryption rotate` sealed anew, and what was left under the former key. */
  resealed: number;
  underFormer: number;
  progress: LoadProgress;
  ownEnds: OwnEnd[];
}

type Say = (line: string) => void;

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

/**
 * A cluster of the version that `former` is the `main.js` of, restarted node by node to this version and through the phases in which
 * an encryption key is changed, while clients work. Everything that was started has ended when it resolves.
 */
export async function runRolling(
  options: RollingOptions,
  { former, folder }: { former: string; folder: string },
  abort: AbortSignal,
  say: Say,
): Promise<RollingRun> {
  await using started = new Started();
  say('starting PostgreSQL, the network, the receivers and the nodes');
  const keys = { former: key('former'), next: key('next') };
  const env = { ENCRYPTION_KEYS: keys.former };
  const world = await startWorld(folder, options.nodes, started, { program: former, env });
  const accounts = await makeAccounts(world, { simulated: options.connections, social: options.social });
  using sampler = new Sampler(world.nodes);
  const started_at = Date.now();
  const roll = new Roll(world, options.hold * 1_000, abort, say);
  const { seed, rate, social_rate } = options;
  const nodes = world.nodes.map(({ url }) => url);
  const logFile = join(folder, 'clients.jsonl');
  await using clients = new LoadProcess({
    seed,
    nodes,
    key: world.key,
    ...accounts,
    rate,
    social_rate,
    logFile,
    gaps: false,
  });
  await delay(LIMITS.lead_ms, undefined, { signal: abort });
  await roll.to({ name: 'new key opens', program: PROGRAM, keys: `${keys.former},${keys.next}` }, former !== PROGRAM);
  await roll.to({ name: 'new key seals', program: PROGRAM, keys: `${keys.next},${keys.former}` });
  const rotated = await rotate(world, `${keys.next},${keys.former}`);
  say(`${rotated.resealed} values sealed anew, ${rotated.underFormer} under the former key`);
  await roll.to({ name: 'new key alone', program: PROGRAM, keys: keys.next });
  await delay(LIMITS.lead_ms, undefined, { signal: abort });
  const calm_at = Date.now();
  await clients.stop();
  await settle(world, options, calm_at, say);
  const collected = await collect(world, sampler, keys.next);
  const { commit } = await machine();
  const run = {
    seed,
    commit,
    nodes: options.nodes,
    started_at,
    calm_at,
    read_at: Date.now(),
    faults: [],
  };
  return {
    evidence: { run, ...collected },
    ...{ restarts: roll.restarts, sideBySide: roll.sideBySide, ...rotated },
    ...{ progress: clients.progress, ownEnds: world.ownEnds },
  };
}

/** Restarts every node of a world, one after the other. */
class Roll {
  readonly restarts: Restart[] = [];
  readonly sideBySide: SideBySide = { former: 0, next: 0 };
  readonly #world: World;
  readonly #hold_ms: number;
  readonly #abort: AbortSignal;
  readonly #say: Say;

  constructor(world: World, hold_ms: number, abort: AbortSignal, say: Say) {
    this.#world = world;
    this.#hold_ms = hold_ms;
    this.#abort = abort;
    this.#say = say;
  }

  /** `mixed`: this step changes the version, so that meanwhile the nodes are of two. */
  async to(step: Step, mixed = false): Promise<void> {
    const { nodes } = this.#world;
    for (const [number, node] of nodes.entries()) {
      this.#abort.throwIfAborted();
      const done = await restart(this.#world, node, step);
      this.restarts.push(done);
      const times = `ended ${done.ended_ms} ms, serves ${done.serves_ms} ms, owns partitions ${done.owns_ms} ms after SIGTERM`;
      this.#say(`${step.name}: node ${number} ${times}`);
      const before = mixed ? await Promise.all(nodes.map(endedBy)) : [];
      await delay(this.#hold_ms, undefined, { signal: this.#abort });
      if (!mixed || number === nodes.length - 1) continue;
      const after = await Promise.all(nodes.map(endedBy));
      for (const [other, ended] of after.entries()) {
        this.sideBySide[other <= number ? 'next' : 'former'] += ended - (before[other] ?? 0);
      }
    }
  }
}

/** As the operator does, with both keys. */
async function rotate({ database }: World, keys: string): Promise<{ resealed: number; underFormer: number }> {
  const env = { DATABASE_URL: database.url, ENCRYPTION_KEYS: keys };
  const { resealed } = (await admin(PROGRAM, env, 'encryption', 'rotate')) as { resealed: Record<string, number> };
  const status = await admin(PROGRAM, env, 'encryption', 'status', '--all');
  const { sealed } = status as { sealed: { key: string | null; rows: number }[] };
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, 0);
  return {
    resealed: sum(Object.values(resealed)),
    underFormer: sum(sealed.filter((one) => one.key === 'former').map(({ rows }) => rows)),
  };
}
