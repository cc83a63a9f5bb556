import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import type { Counted, Tallied, WorkspaceCounts } from './tally.js';

/** What belongs to no workspace, as a node sees it at the end of a step. */
export interface NodeMeasures {
  queued: number;
  oldest_queued_s: number;
  database_ms: number;
  /** Threads that live. */
  threads: number;
  /** Threads that died and were replaced, since the node was started. */
  thread_restarts: number;
  /** Connections held in memory. */
  mailboxes: number;
  /** Browsers that run. */
  browsers: number;
  browser_restarts: number;
  contexts: number;
  /** Pages in use, and those kept for the next run. */
  pages: number;
  /** Page programs that wait for a slot. */
  runs_waiting: number;
  /** Submissions that one statement stored in the step, on average; null: none was stored. */
  batch_items: number | null;
  /** It ends, and takes nothing more. */
  draining: boolean;
}

/** As read: all null in the rows of a workspace, which have no measures. */
export type ToldMeasures = { [measure in keyof NodeMeasures]: NodeMeasures[measure] | null };

/** A step of a node: what happened in each workspace, and in all of them together. */
export interface NodeStep {
  nodeId: string;
  /** When it began. */
  step: Date;
  workspaces: Tallied;
  together: WorkspaceCounts;
  measures: NodeMeasures;
}

const COUNTED = [
  ...['accepted', 'succeeded', 'failed', 'canceled', 'unknown', 'waits', 'moves', 'resumes'],
  ...['delivered', 'undelivered', 'connections', 'subscriptions'],
] as Counted[];
const COLUMNS = COUNTED.join(', ');
const MEASURED = Object.keys({
  ...{ queued: 0, oldest_queued_s: 0, database_ms: 0, threads: 0, thread_restarts: 0, mailboxes: 0, browsers: 0 },
  ...{ browser_restarts: 0, contexts: 0, pages: 0, runs_waiting: 0, batch_items: null, draining: false },
} satisfies NodeMeasures);
/** What a node measures, as columns of a step without a workspace. */
export const MEASURES = MEASURED.join(', ');

const STORE = `with gone as (
    delete from overview_step where ctid = any(array(
      select ctid from overview_step where step < now() - interval '${LIMITS.overview_ms + 2 * LIMITS.overview_step_ms} milliseconds'
      order by step limit ${LIMITS.overview_deleted_rows} for update skip locked))
  )
  insert into overview_step (workspace_id, step, node_id, ${COLUMNS}, took, ${MEASURES})
  select i.workspace_id, $1, $2, ${COUNTED.map((name) => `i.${name}`).join(', ')}, i.took::integer[],
    ${MEASURED.map((name) => `m.${name}`).join(', ')}
  from unnest($4::uuid[], $5::text[], ${COUNTED.map((_, i) => `$${i + 6}::integer[]`).join(', ')}) i(workspace_id, took, ${COLUMNS})
    left join jsonb_populate_record(null::overview_step, $3) m on i.workspace_id is null
  on conflict (workspace_id, step, node_id) do update set
    ${[...COUNTED, 'took', ...MEASURED].map((name) => `${name} = excluded.${name}`).join(', ')}`;

/** Stores a step, and deletes what is too old. A step that is stored again replaces the one before. Indexes: overview_step_key, overview_step_by_time. */
export async function storeStep(sql: Sql, { nodeId, step, workspaces, together, measures }: NodeStep): Promise<void> {
  const rows: [string | null, WorkspaceCounts][] = [[null, together], ...workspaces];
  await sql.query('storeOverviewStep', STORE, [
    ...[step, nodeId, JSON.stringify(measures)],
    rows.map(([id]) => id),
    rows.map(([, { took }]) => `{${took.join()}}`),
    ...COUNTED.map((name) => rows.map(([, counts]) => counts[name])),
  ]);
}

/** What a node counted in a step; without a workspace with what it measured. */
export interface StepRow extends WorkspaceCounts, ToldMeasures {
  step: Date;
}

/** The steps of a workspace, null: of the installation, from a moment on; a row a node. Index: overview_step_key. */
export function readSteps(sql: Sql, workspaceId: string | null, from: Date): Promise<StepRow[]> {
  return sql.query<StepRow>(
    `readOverviewSteps${workspaceId ? 'OfWorkspace' : ''}`,
    `select step, ${COLUMNS}, took, ${MEASURES} from overview_step
     where ${workspaceId ? 'workspace_id = $2' : '$2::uuid is null and workspace_id is null'} and step >= $1 order by step`,
    [from, workspaceId],
  );
}

/** A step that a node has stored. */
export interface StoredStep {
  node_id: string;
  step: Date;
}

/** Those of other nodes, from a moment on: each is stored whole. Index: overview_step_key. */
export function stepsOfOthers(sql: Sql, nodeId: string, from: Date): Promise<StoredStep[]> {
  return sql.query<StoredStep>(
    'overviewStepsOfOthers',
    'select node_id, step from overview_step where workspace_id is null and step >= $1 and node_id <> $2',
    [from, nodeId],
  );
}

/** What was counted in these steps, by workspace. Index: overview_step_by_time. */
export async function countsOf(sql: Sql, steps: StoredStep[]): Promise<Tallied> {
  const rows = await sql.query<WorkspaceCounts & { workspace_id: string }>(
    'countsOfOverviewSteps',
    `select o.workspace_id, ${COUNTED.map((name) => `o.${name}`).join(', ')}, o.took
     from unnest($1::uuid[], $2::timestamptz[]) i(node_id, step)
     cross join lateral (select * from overview_step where step = i.step and node_id = i.node_id offset 0) o where o.workspace_id is not null`,
    [steps.map(({ node_id }) => node_id), steps.map(({ step }) => step)],
  );
  return rows.map(({ workspace_id, ...counts }) => [workspace_id, counts]);
}
