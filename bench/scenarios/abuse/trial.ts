import type { SplitCores } from '../../kit/cores.js';
import { type MemorySample, measureMemory } from '../../kit/heap/memory.js';
import { Child } from '../../kit/program.js';
import type { Attack } from './attack.js';
import { LIMITS } from './limits.js';
import type { Attacked, FromAttacker, Measured, ToAttacker } from './messages.js';
import { serviceMetrics, unexpectedBetween } from './service-metrics.js';
import { type Left, peakMemory, type Sessions, sessionsBack, settled, Watch, type Watched } from './watch.js';
import type { AbuseWorld } from './world.js';

export interface TrialOptions {
  /** Of the attack, and of the baseline before it. */
  seconds: number;
  rows: number;
  cores: SplitCores | null;
}

/** One attack, as everybody saw it. */
export interface Trial {
  attack: string;
  means: string;
  alone: Measured;
  under: Measured;
  attacked: Attacked;
  /** With the garbage of every thread collected. */
  memory: { before: MemorySample; peak_mib: number; after: MemorySample };
  sessions: { alone: Sessions; under: Sessions; back_ms: number | null };
  handles: number;
  /** What the service counted as answered with a 5xx other than 503, to anybody. */
  unexpected: number;
  /** Series of its metrics before and after; -1: it had none to show. */
  series: { before: number; after: number };
  healthy: boolean;
  left: Left & { seconds: number };
  /** Why the service would not have taken away what the attack had put in place; null: it has. */
  uncleared: string | null;
}

/** Puts an attack in place, measures the neighbour without and beside it, and what the service holds before and after. */
export async function tryAttack(world: AbuseWorld, attack: Attack, options: TrialOptions): Promise<Trial> {
  const { service, db } = world;
  const { metricsUrl, inspectorUrl, url } = service.addresses;
  const tenant = await world.tenant(`greedy-${attack.name}`);
  await using attacker = new Child<ToAttacker, FromAttacker>(
    new URL('./attacker.js', import.meta.url),
    options.cores?.client,
  );
  const order: ToAttacker = { type: 'prepare', attack: attack.name, tenant, rows: options.rows };
  await step('it was not put in place', attacker.ask(order, 'prepared', LIMITS.prepare_ms));

  const before = await measureMemory(inspectorUrl);
  const metricsBefore = await serviceMetrics(metricsUrl);
  const { measured: alone, watched: calm } = await watchedMeasure(world, options.seconds);
  const peak = await peakMemory(service.pid);
  const within_ms = options.seconds * 1_000 + LIMITS.report_ms;
  let back: Promise<number | null> | undefined;
  const asked = attacker.ask({ type: 'attack', seconds: options.seconds }, 'attacked', within_ms).then((answer) => {
    back = sessionsBack(db, calm.sessions);
    return answer.attacked;
  });
  const attacking = step('the attacker did not report', asked);
  attacking.catch(() => {});
  const { measured: under, watched } = await watchedMeasure(world, options.seconds);
  const attacked = await attacking;
  const back_ms = (await back) ?? null;

  const cleared = performance.now();
  const clearing = attacker.ask({ type: 'clear' }, 'cleared', LIMITS.clear_ms);
  const { failure: uncleared } = await step('it was not cleared away', clearing);
  const left = await settled(db, tenant.workspaceId);
  left.seconds = (performance.now() - cleared) / 1_000;
  const peak_mib = await peak();
  const metricsAfter = await serviceMetrics(metricsUrl);
  return {
    ...{ attack: attack.name, means: attack.means, alone, under, attacked, left, uncleared, handles: watched.handles },
    memory: { before, peak_mib, after: await measureMemory(inspectorUrl) },
    sessions: { alone: calm.sessions, under: watched.sessions, back_ms },
    unexpected: unexpectedBetween(metricsBefore, metricsAfter),
    series: { before: metricsBefore?.series ?? -1, after: metricsAfter?.series ?? -1 },
    healthy: await isHealthy(url),
  };
}

/** What the neighbour saw, and what the service held meanwhile at the most. */
async function watchedMeasure(
  { service, db, neighbour }: AbuseWorld,
  seconds: number,
): Promise<{ measured: Measured; watched: Watched }> {
  const watch = new Watch(service, db);
  // What was due last may wait for its answer, and then for its callback.
  const within_ms = seconds * 1_000 + 2 * LIMITS.answer_ms + LIMITS.report_ms;
  const asked = neighbour.ask({ type: 'measure', seconds }, 'measured', within_ms);
  const { measured } = await step('the neighbour did not report', asked);
  return { measured, watched: await watch.end() };
}

/** Names the step that failed. */
async function step<T>(failure: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(failure, { cause: error });
  }
}

async function isHealthy(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(LIMITS.answer_ms) }).catch(() => null);
  return answer?.status === 200;
}
