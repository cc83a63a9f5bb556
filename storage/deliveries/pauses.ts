import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';

/** A destination that does not answer; `destination` is its hash in hexadecimal, `reason` the class of the error of its last try. */
export interface NotedPause {
  destination: string;
  reason: string;
}

/**
 * Notes these destinations as paused, since now or since they were noted first. Forgets those that nobody has tried for
 * `pause_forgotten_hours`: nothing waits for them any more. Index: callback_pause_by_try.
 */
export async function notePauses(sql: Sql, pauses: NotedPause[]): Promise<void> {
  await sql.query(
    'notePauses',
    `with forgotten as (
       delete from callback_pause where destination in (
         select p.destination from callback_pause p
         where p.tried_at < now() - $3 * interval '1 hour' and encode(p.destination, 'hex') <> all($1::text[])
         order by p.tried_at limit $4 for update skip locked)
     )
     insert into callback_pause as p (destination, reason)
     select decode(i.destination, 'hex'), i.reason from unnest($1::text[], $2::text[]) i(destination, reason) order by 1
     on conflict (destination) do update set reason = excluded.reason, tried_at = now()`,
    [
      pauses.map(({ destination }) => destination),
      pauses.map(({ reason }) => reason),
      LIMITS.pause_forgotten_hours,
      LIMITS.forgotten_pauses,
    ],
  );
}

/** These destinations, hashes in hexadecimal, have answered. */
export async function forgetPauses(sql: Sql, destinations: string[]): Promise<void> {
  await sql.query(
    'forgetPauses',
    `with gone as materialized (
       select destination from callback_pause
       where destination in (select decode(d, 'hex') from unnest($1::text[]) d) order by destination for update
     )
     delete from callback_pause p using gone g where p.destination = g.destination`,
    [destinations],
  );
}
