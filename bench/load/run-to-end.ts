import type { Sql } from '../../storage/postgres/database.js';
import type { Meter } from '../kit/cost/meter.js';
import { type Latency, NO_LATENCY } from '../kit/latencies.js';
import { drive } from './drive.js';
import { EndCounter } from './end-counter.js';
import { endsOf } from './ends.js';
import type { LoadOrder } from './messages.js';
import { errorsOf, withClient } from './round.js';
import type { Round } from './rounds.js';

export interface EndRound extends Round {
  /** Submissions a second while it was submitted, and what each took to its 202. */
  accepted: { per_second: number } & Latency;
  /** What was refused or went wrong. */
  errors: string[];
  by_status: Record<string, number>;
}

/** The service that a round measures, with a connection to its database. */
export interface Measured {
  metricsUrls: string[];
  db: Sql;
  meter: Meter;
}

/** Submits for the time of the order, then waits until all that was accepted has ended. */
export async function runToEnd(
  what: string,
  { metricsUrls, db, meter }: Measured,
  order: LoadOrder,
  say: (line: string) => void,
): Promise<EndRound> {
  const ends = await EndCounter.start(metricsUrls);
  const { value: result, usage } = await meter.during(async () => {
    const result = await drive(what, order, say);
    await ends.reach(result.answered, what, say);
    return result;
  });
  const { operations, seconds, latency, timeline, by_status } = await endsOf(db, order.run);
  const used = withClient(usage, result);
  const accepted = { per_second: result.answered / result.seconds, ...(result.kinds.submit ?? NO_LATENCY) };
  return { operations, seconds, latency, timeline, by_status, usage: used, accepted, errors: errorsOf(result) };
}
