import typia from 'typia';
import { LIMITS as STORAGE_LIMITS } from '../../../storage/limits.js';
import { OPERATOR } from '../../../storage/model/records.js';
import { readSteps, type StepRow } from '../../../storage/overview/steps.js';
import { noTimes, quantile_ms } from '../../../storage/overview/took.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { type Answer, json } from '../../http/answer.js';
import type { Count, Timestamp } from '../../http/fields.js';
import { type Call, type Route, route } from '../../http/route.js';

/** What happened in the last hour: in each list one number a step, the oldest first. */
export interface OverviewJson {
  /** When the first step began. */
  from: Timestamp;
  /** Seconds of a step. */
  step_s: Count;
  /** Operations that were accepted. */
  accepted: Count[];
  /** Operations that succeeded, or had nothing to do. */
  succeeded: Count[];
  /** Operations that failed. */
  failed: Count[];
  /** Operations that were canceled. */
  canceled: Count[];
  /** Operations whose outcome is unknown. */
  unknown: Count[];
  /** Attempts of deliveries that were answered with success. */
  delivered: Count[];
  /** Attempts of deliveries that failed. */
  undelivered: Count[];
  /** Milliseconds from acceptance to the end within which half of those ended that ended in the step; null without any. */
  p50_ms: (Count | null)[];
  /** The same for 99 of 100. */
  p99_ms: (Count | null)[];
}

/** The same of the whole installation, with what belongs to no workspace; null where no node has told. */
export interface InstallationOverviewJson extends OverviewJson {
  /** Operations that waited for their turn at the end of the step. */
  queued: (Count | null)[];
  /** How long the oldest of them had waited, in seconds. */
  oldest_queued_s: (number | null)[];
  /** Milliseconds in which the database answered; the slowest of what the nodes saw. */
  database_ms: (number | null)[];
  /** Threads that lived at the end of the step, over all nodes. */
  threads: (Count | null)[];
  /** Pages that were open in browsers. */
  pages: (Count | null)[];
  /** Page programs that waited for their turn. */
  runs_waiting: (Count | null)[];
}

const STEPS = STORAGE_LIMITS.overview_ms / STORAGE_LIMITS.overview_step_ms;

/** The steps of the last hour that nodes have had time to store, each with a row a node. */
interface Hour {
  from: Date;
  steps: StepRow[][];
}

/** Which hour of which workspace is asked for now; null: of the installation. The same until the next step has settled. */
function hourKey(workspaceId: string | null): string {
  const { overview_step_ms, overview_settled_ms } = STORAGE_LIMITS;
  const from_ms = (Math.floor((Date.now() - overview_settled_ms) / overview_step_ms) - STEPS) * overview_step_ms;
  return `${from_ms} ${workspaceId ?? ''}`;
}

/** The answer to all who ask for this hour: it is read and added up once a step, however many consoles watch (HTTP-29). */
export async function overviewAnswer(sql: Sql, key: string): Promise<Answer> {
  const [from_ms, workspaceId] = key.split(' ');
  const hour = await hourOf(sql, Number(from_ms), workspaceId || null);
  return json(200, workspaceId ? overviewJson(hour) : installationJson(hour));
}

async function answered({ load }: Call<undefined, undefined, undefined>, workspaceId: string | null): Promise<Answer> {
  const answer = await load.overview(hourKey(workspaceId));
  if (!answer) throw new Error('an hour has an answer');
  return answer;
}

async function hourOf(sql: Sql, from_ms: number, workspaceId: string | null): Promise<Hour> {
  const { overview_step_ms } = STORAGE_LIMITS;
  const from = new Date(from_ms);
  const steps = Array.from({ length: STEPS }, (): StepRow[] => []);
  for (const row of await readSteps(sql, workspaceId, from))
    steps[(row.step.getTime() - from_ms) / overview_step_ms]?.push(row);
  return { from, steps };
}

function overviewJson({ from, steps }: Hour): OverviewJson {
  const total = (read: (row: StepRow) => number) => steps.map((rows) => rows.reduce((sum, row) => sum + read(row), 0));
  const times = steps.map((rows) => noTimes().map((_, i) => rows.reduce((sum, { took }) => sum + (took[i] ?? 0), 0)));
  return {
    from: from.toISOString(),
    step_s: STORAGE_LIMITS.overview_step_ms / 1000,
    accepted: total(({ accepted }) => accepted),
    succeeded: total(({ succeeded }) => succeeded),
    failed: total(({ failed }) => failed),
    canceled: total(({ canceled }) => canceled),
    unknown: total(({ unknown }) => unknown),
    delivered: total(({ delivered }) => delivered),
    undelivered: total(({ undelivered }) => undelivered),
    p50_ms: times.map((counts) => quantile_ms(counts, 0.5)),
    p99_ms: times.map((counts) => quantile_ms(counts, 0.99)),
  };
}

function installationJson(hour: Hour): InstallationOverviewJson {
  const measured = (read: (row: StepRow) => number | null, join: (...values: number[]) => number) =>
    hour.steps.map((rows) => (rows.length === 0 ? null : join(...rows.map((row) => read(row) ?? 0))));
  const total = (...counts: number[]) => counts.reduce((sum, count) => sum + count, 0);
  return {
    ...overviewJson(hour),
    queued: measured(({ queued }) => queued, total),
    oldest_queued_s: measured(({ oldest_queued_s }) => oldest_queued_s, Math.max),
    database_ms: measured(({ database_ms }) => database_ms, Math.max),
    threads: measured(({ threads }) => threads, total),
    pages: measured(({ pages }) => pages, total),
    runs_waiting: measured(({ runs_waiting }) => runs_waiting, total),
  };
}

export const overviewRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'getOverview',
    path: '/v1/overview',
    summary: 'Get the last hour of the workspace',
    description:
      'Answers what became of the operations and deliveries of the workspace in the last hour, over all nodes. A step is there some seconds after its end.',
    scopes: ['operations:read', 'connections:read'],
    body: { kind: 'none' },
    answers: { 200: { description: 'The last hour.', schema: typia.json.schemas<[OverviewJson]>() } },
    handle: (call) => answered(call, call.key.workspace_id),
  }),
  route({
    method: 'GET',
    operationId: 'getInstallationOverview',
    path: '/v1/operator/overview',
    summary: 'Get the last hour of the installation',
    description:
      'Answers the same over all workspaces, with the queues, threads and browsers of the nodes and how soon the database answered.',
    scopes: [OPERATOR],
    body: { kind: 'none' },
    answers: { 200: { description: 'The last hour.', schema: typia.json.schemas<[InstallationOverviewJson]>() } },
    handle: (call) => answered(call, null),
  }),
];
