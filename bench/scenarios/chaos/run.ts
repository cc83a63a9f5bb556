import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Deadline } from '../../../storage/process/deadline.js';
import { machine } from '../../kit/machine.js';
import { readRows } from './checker/read-rows.js';
import { readCallbacks, readClients, readLedger } from './collect.js';
import type { Evidence, FaultRecord } from './evidence.js';
import { drawExtremes, extremeLines, type NodeExtremes, patienceWith, variablesOf } from './extremes/draw.js';
import { addHistory, removeHistory } from './extremes/history.js';
import { BackendPauses } from './extremes/pauses.js';
import { Injector } from './faults/injector.js';
import type { FaultKind } from './faults/kinds.js';
import { type PlannedFault, planFaults, scheduleLines } from './faults/schedule.js';
import { LIMITS } from './limits.js';
import { LoadProcess } from './load/load.js';
import type { LoadProgress } from './load/messages.js';
import { type Accounts, makeAccounts } from './parts/accounts.js';
import type { ChaosNode, OwnEnd } from './parts/node.js';
import { OrphanProbe } from './parts/orphan-probe.js';
import { PROGRAM } from './parts/program.js';
import { Sampler } from './parts/samples.js';
import { Started } from './parts/started.js';
import { startWorld, type World } from './parts/world.js';

export interface ChaosOptions {
  seed: number;
  minutes: number;
  nodes: number;
  connections: number;
  social: number;
  /** Submissions a second, to simulated and to social connections. */
  rate: number;
  social_rate: number;
  /** Seconds between two faults, on average. */
  every: number;
  /** Seconds that deliveries get to end after the operations did. */
  settle: number;
  /** Each node draws limits of its own; `set` has those that all of them are given. Absent: the usual ones. */
  extremes?: { set: Record<string, number> };
  /** The `main.js` that the nodes run. Absent: this version's. */
  program?: string;
}

/** What a run leaves. */
export interface ChaosRun {
  evidence: Evidence;
  planned: PlannedFault[];
  /** Kinds of fault that this machine cannot make. */
  without: FaultKind[];
  /** Faults that found nothing to hit. */
  missed: number;
  progress: LoadProgress;
  /** Nodes that ended although nobody ended them. */
  ownEnds: OwnEnd[];
}

type Say = (line: string) => void;

/** A run from its start to its evidence, in this folder. Everything that was started has ended when it resolves. */
export async function runChaos(options: ChaosOptions, folder: string, abort: AbortSignal, say: Say): Promise<ChaosRun> {
  await using started = new Started();
  const extremes = options.extremes ? drawExtremes(options.seed, options.nodes, options.extremes.set) : [];
  for (const line of extremeLines(extremes)) say(line);
  say('starting PostgreSQL, the network, the receivers and the nodes');
  const { program = PROGRAM } = options;
  const world = await startWorld(folder, options.nodes, started, { program });
  const count = { simulated: options.connections, social: options.social };
  const accounts = await makeAccounts(world, count, { tellEnds: options.extremes !== undefined });
  if (options.extremes) await addHistory(world.database);
  await Promise.all(extremes.map((drawn, number) => startAgainWith(world.nodes[number], program, drawn)));
  const without: FaultKind[] = world.database.canBeFull ? [] : ['database_disk_full'];
  const planned = planFaults({
    seed: options.seed,
    duration_ms: options.minutes * 60_000,
    targets: { node: options.nodes, database: 1, account: options.social, receiver: world.receivers.length },
    every_ms: options.every * 1_000,
    without: new Set(without),
  });
  say(`seed ${options.seed}, ${planned.length} faults:`);
  for (const line of scheduleLines(planned)) say(line);
  using sampler = new Sampler(world.nodes);
  await using probe = new OrphanProbe(world.database.url, say);
  const started_at = Date.now();
  const { injector, progress, calm_at } = await load(world, accounts, options, planned, abort, say);
  const patience = options.extremes ? { patience_ms: patienceWith(extremes) } : {};
  if (options.extremes) await removeHistory(world.database);
  const settled = await settle(world, { ...options, ...patience }, calm_at, say);
  const { orphans } = probe;
  const collected = await collect(world, sampler);
  const run = {
    seed: options.seed,
    commit: (await machine()).commit,
    nodes: options.nodes,
    started_at,
    calm_at,
    read_at: Date.now(),
    faults: [...injector.records, ...(options.extremes ? [latenessUntil(started_at, calm_at)] : [])],
    ...(options.extremes && { extremes, ...patience, ...settled }),
  };
  return {
    evidence: { run, ...collected, orphans },
    planned,
    without,
    missed: injector.missed,
    progress,
    ownEnds: world.ownEnds,
  };
}

/** Statements that are paused, or have no time, are as if the database failed in all that time. */
const latenessUntil = (from: number, to: number): FaultRecord => ({
  kind: 'database_statements_late',
  target: 'database',
  from,
  to,
});

/** From here on the node has these limits: with the usual ones, accounts are made in one go. */
async function startAgainWith(node: ChaosNode | undefined, program: string, drawn: NodeExtremes): Promise<void> {
  await node?.end();
  node?.use(program, variablesOf(drawn), LIMITS.slow_node_start_ms);
  node?.start();
  await node?.serves();
}

/**
 * Lets the clients work while the faults are tried; resolves when every fault was undone and every request has its answer. When the time is over
 * nothing new is submitted and no backend is paused any more: a node that comes back finds a database that has time for it. Throws for a node
 * that does not serve LIMITS.nodes_back_ms later.
 */
async function load(
  world: World,
  accounts: Accounts,
  options: ChaosOptions,
  planned: PlannedFault[],
  abort: AbortSignal,
  say: Say,
): Promise<{ injector: Injector; progress: LoadProgress; calm_at: number }> {
  const { seed, rate, social_rate } = options;
  const nodes = world.nodes.map(({ url }) => url);
  const logFile = join(world.folder, 'clients.jsonl');
  const order = { seed, nodes, key: world.key, ...accounts, rate, social_rate, logFile };
  await using clients = new LoadProcess({ ...order, gaps: options.extremes !== undefined });
  const injector = new Injector(world, accounts.social, abort, say);
  const told = setInterval(() => say(progressLine(clients.progress, injector)), LIMITS.progress_ms);
  try {
    const undone = injector.carryOut(planned);
    const pauses = options.extremes && new BackendPauses(world.database.url, seed);
    await delay(options.minutes * 60_000, undefined, { signal: abort }).catch(() => {});
    await pauses?.[Symbol.asyncDispose]();
    if (pauses) say(`backends were paused ${pauses.count} times`);
    clients.submitNothingNew();
    await Deadline.within(LIMITS.nodes_back_ms, undone, { reason: () => notBack(world.nodes) });
    abort.throwIfAborted();
    const calm_at = Math.max(...injector.records.map(({ to }) => to), Date.now() - LIMITS.quiet_end_ms);
    await clients.stop();
    return { injector, progress: clients.progress, calm_at };
  } finally {
    clearInterval(told);
  }
}

/** Which nodes a run waited for in vain. */
function notBack(nodes: readonly ChaosNode[]): Error {
  const names = nodes.filter(({ pid }) => pid === undefined).map(({ number }) => `node ${number}`);
  const who = names.length > 0 ? `${names.join(', ')} did not serve` : 'a fault was not undone';
  return new Error(`${who} within ${LIMITS.nodes_back_ms / 1_000} s after the load`);
}

function progressLine({ sent, accepted, under_way, left_out }: LoadProgress, { records }: Injector): string {
  const since = left_out > 0 ? `, ${left_out} left out` : '';
  return `${sent} submitted, ${accepted} accepted, ${under_way} without an answer${since}, ${records.length} faults`;
}

/**
 * Until every operation has ended or its time is over, then until every delivery has, or its time is over. With `patience_ms` the time begins anew
 * whenever one has: a node with absurd limits works its backlog off slowly. Gives when the last operation ended, after `calm_at`.
 */
export async function settle(
  { database }: World,
  { settle, patience_ms }: Pick<ChaosOptions, 'settle'> & { patience_ms?: number },
  calm_at: number,
  say: Say,
): Promise<{ worked_off_ms: number }> {
  const patient = patience_ms !== undefined;
  const until = async (what: string, time_ms: number) => {
    let [open, changed_at] = [Number.POSITIVE_INFINITY, Date.now()];
    while (open > 0 && Date.now() - changed_at < time_ms) {
      await delay(LIMITS.settle_poll_ms);
      const left = Number((await database.query(what)).rows[0]?.count);
      if (patient && left < open) changed_at = Date.now();
      open = left;
    }
    return open;
  };
  const operations = await until(OPEN_OPERATIONS, LIMITS.operations_end_ms + (patience_ms ?? 0));
  const worked_off_ms = Date.now() - calm_at;
  const ended = operations === 0 ? 'every operation has ended' : `${operations} operations have not ended`;
  say(`${ended}, ${(worked_off_ms / 1_000).toFixed(1)} s after all was well`);
  const deliveries = await until(OPEN_DELIVERIES, settle * 1_000);
  if (deliveries > 0) say(`${deliveries} deliveries have not ended after ${settle} s more`);
  return { worked_off_ms };
}

const OPEN_OPERATIONS = `select count(*) from operation where status in ('queued', 'running', 'waiting_user')`;
const OPEN_DELIVERIES = `select count(*) from delivery where status in ('pending', 'sending')`;

/** With every node paused, so that rows and logs are of one moment. `keys`: those under which anything is sealed by now. */
export async function collect(
  world: World,
  { samples }: Sampler,
  keys = world.encryptionKeys,
): Promise<Omit<Evidence, 'run'>> {
  const paused_at = Date.now();
  for (const node of world.nodes) node.pause();
  await delay(LIMITS.last_words_ms);
  const ledger = await readLedger(world.network.ready.control_url);
  const rows = await readRows(world.database.url, keys, paused_at);
  const callbacks = await readCallbacks(world.callbacksFile);
  for (const node of world.nodes) node.goOn();
  const clients = await readClients(join(world.folder, 'clients.jsonl'));
  return { ...clients, ledger, callbacks, rows, samples };
}
