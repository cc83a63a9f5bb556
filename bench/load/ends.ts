import type { Sql } from '../../storage/postgres/database.js';
import type { Distribution } from '../kit/latencies.js';
import { LIMITS } from './limits.js';
import type { KindResult } from './messages.js';

const BUCKET_s = LIMITS.timeline_ms / 1_000;
/** What share of the operations took no longer. */
const SHARES = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1];

/** How the operations of a run ended, as their rows tell. */
export interface Ends {
  operations: number;
  by_status: Record<string, number>;
  /** From the first acceptance to the last end. */
  seconds: number;
  /** From an operation's acceptance to its end. */
  latency: KindResult;
  timeline: { at: number; per_second: number }[];
}

const OF_RUN = `from operation where idempotency_key like $1 || '-%'`;

/** `run` begins the idempotency keys. Reads the whole table. */
export async function endsOf(db: Sql, run: string): Promise<Ends> {
  const statuses = await db.query<{ status: string; count: number }>(
    'benchEndStatuses',
    `select status, count(*)::int as count ${OF_RUN} group by status`,
    [run],
  );
  const [taken] = await db.query<{ operations: number; seconds: number; ms: number[] }>(
    'benchEnds',
    `select count(*)::int as operations, extract(epoch from max(updated_at) - min(created_at))::float8 as seconds,
       percentile_disc($2::float8[]) within group (order by extract(epoch from updated_at - created_at)::float8 * 1000) as ms
     ${OF_RUN}`,
    [run, SHARES],
  );
  const buckets = await db.query<{ place: number; count: number }>(
    'benchEndTimes',
    `select floor(extract(epoch from updated_at - (select min(created_at) ${OF_RUN})) / $2::float8)::int as place,
       count(*)::int as count ${OF_RUN} group by 1 order by 1`,
    [run, BUCKET_s],
  );
  const ms = taken?.ms ?? [];
  const at = (share: number) => ms[SHARES.indexOf(share)] ?? 0;
  return {
    operations: taken?.operations ?? 0,
    by_status: Object.fromEntries(statuses.map(({ status, count }) => [status, count])),
    seconds: taken?.seconds ?? 0,
    latency: {
      ...{ count: taken?.operations ?? 0, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) },
      distribution: SHARES.map((share, place): Distribution[number] => [share, ms[place] ?? 0]),
    },
    timeline: timelineOf(buckets),
  };
}

/** A quarter of a second without an end has no row. */
function timelineOf(buckets: { place: number; count: number }[]): Ends['timeline'] {
  const counts = new Map(buckets.map(({ place, count }) => [place, count]));
  return Array.from({ length: (buckets.at(-1)?.place ?? -1) + 1 }, (_, place) => ({
    at: (place + 1) * BUCKET_s,
    per_second: (counts.get(place) ?? 0) / BUCKET_s,
  }));
}

/** Of the operations that were accepted last. */
export async function newestIds(db: Sql, count: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>('benchNewest', 'select id from operation order by id desc limit $1', [
    count,
  ]);
  return rows.map(({ id }) => id);
}
