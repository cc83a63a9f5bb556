import { LIMITS } from '../../limits.js';
import { DELIVERY_STATUSES } from '../../model/records.js';
import { type Erasure, FIRST_ID, type PassOver, shareOf } from './erasure.js';

/** Where a slice of events goes on: behind this position of this connection's list, where this event stands. */
interface Place {
  connection_id: string;
  rank: string;
  event_id: string;
}

const START: Place = { connection_id: FIRST_ID, rank: '0', event_id: FIRST_ID };

/** Behind the list of the connection. */
const END = { rank: String(2n ** 63n - 1n), event_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

const textOf = ({ connection_id, rank, event_id }: Place): string => `${connection_id} ${rank} ${event_id}`;

function placeOf(text: string): Place {
  const [connection_id = FIRST_ID, rank = '0', event_id = FIRST_ID] = text.split(' ');
  return { connection_id, rank, event_id };
}

/** The connections from the place of `$1` and `$2` on. */
const FROM_PLACE = `c.id >= $1 and not (c.id = $1 and $2::bigint = ${END.rank}) and c.deleted_at is null`;

/**
 * Events that were recorded before, with their positions in the list, once no delivery of theirs is left. `old` counts them by
 * event_by_connection, which has the age, and so many positions are read: both go in the order in which events came, but for a few that
 * were recorded at the same time, which the next round finds. Those that stay are passed.
 */
const ERASE = `
  with page as materialized (
    select c.id, case when c.id = $1 then $2::bigint else 0 end as rank, case when c.id = $1 then $3::uuid else '${FIRST_ID}' end as event_id
    from connection c where ${FROM_PLACE} order by c.id limit $4
  ), read as materialized (
    select c.id as connection_id, p.rank, p.event_id from page c cross join lateral (
      select count(*) as events from (
        select from event e where e.connection_id = c.id and e.id > c.event_id and e.id < $5 order by e.id limit $6) e) old
    cross join lateral (
      select rank, event_id from event_position where connection_id = c.id and rank > c.rank order by rank limit old.events) p
    order by c.id, p.rank limit $6
  ), span as materialized (
    select connection_id, (array_agg(event_id order by event_id))[1] as first, (array_agg(event_id order by event_id desc))[1] as last
    from read group by connection_id
  ), kept as materialized (
    select d.event_id from span r join subscription s on s.connection_id = r.connection_id
    join delivery d on d.subscription_id = s.id and d.status = any($7) and d.event_id between r.first and r.last
  ), due as materialized (
    select * from read where event_id < $5 and event_id not in (select event_id from kept)
  ), gone as (
    delete from event where id = any(array(select event_id from due)) returning 1
  ), unlisted as (
    delete from event_position p using due d where p.connection_id = d.connection_id and p.rank = d.rank
  )
  select (select count(*)::integer from gone) as erased, (select count(*)::integer from read) as read,
    (select count(*)::integer from page) as connections, (select id from page order by id desc limit 1) as last_connection,
    l.connection_id, l.rank::text, l.event_id
  from (values (1)) one left join lateral (select * from read order by connection_id desc, rank desc limit 1) l on true`;

interface Slice extends Place {
  erased: number;
  read: number;
  connections: number;
  last_connection: string;
}

export const eraseEvents: Erasure = async (tx, after, { id }, rows) => {
  const { connection_id, rank, event_id } = after === null ? START : placeOf(after);
  const most = shareOf(LIMITS.retention_connections, rows);
  const [slice] = await tx.query<Slice>('eraseEvents', ERASE, [
    ...[connection_id, rank, event_id, most, id, rows],
    [...DELIVERY_STATUSES],
  ]);
  if (!slice) return { erased: 0, last: null };
  const { erased, read, connections, last_connection } = slice;
  if (read === rows) return { erased, last: textOf(slice) };
  const more = connections === most;
  return { erased, last: more ? textOf({ connection_id: last_connection, ...END }) : null };
};

/** The rest of a connection. */
export const passEvent: PassOver = async (tx, after) => {
  const { connection_id, rank } = after === null ? START : placeOf(after);
  const [row] = await tx.query<{ id: string }>(
    'passEvent',
    `select c.id from connection c where ${FROM_PLACE} order by c.id limit 1`,
    [connection_id, rank],
  );
  return row ? textOf({ connection_id: row.id, ...END }) : null;
};
