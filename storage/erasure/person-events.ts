import { LIMITS } from '../limits.js';
import type { Transaction } from '../postgres/database.js';
import { eventDataContext } from '../secrets/sealing.js';
import type { Search, Slice } from './person-slice.js';

interface EventData {
  connection_id: string;
  rank: string;
  /** Null where the event is gone, as its position will be. */
  id: string | null;
  workspace_id: string | null;
  mine: boolean | null;
  data: object | null;
  data_sealed: Buffer | null;
}

/**
 * Events by their positions in the lists, which go with them and are found by nothing else. Index: event_position_pkey; of their deliveries
 * delivery_by_status.
 */
export async function eventSlice(
  tx: Transaction,
  { fields, named, vault, workspaceId, onErased, after }: Search,
): Promise<Slice> {
  const [connectionId, rank] = after.split(' ');
  const rows = await tx.query<EventData>(
    'readEventData',
    `select p.connection_id, p.rank::text, e.id, e.workspace_id, e.data, e.data_sealed, $4::uuid is null or e.workspace_id = $4 as mine
     from (select connection_id, rank, event_id from event_position where (connection_id, rank) > ($1::uuid, $2::bigint)
       order by connection_id, rank limit $3) p
     left join event e on e.id = p.event_id order by p.connection_id, p.rank`,
    [connectionId, rank, LIMITS.erasure_rows, workspaceId],
  );
  const found = rows.filter(
    ({ id, mine, data, data_sealed }) =>
      id !== null &&
      mine &&
      named(fields.event(vault.openValue({ plain: data, sealed: data_sealed }, eventDataContext(id)))),
  );
  const end = rows.length === LIMITS.erasure_rows ? rows.at(-1) : undefined;
  const slice = {
    read: rows.length,
    last: end ? `${end.connection_id} ${end.rank}` : null,
    workspaceIds: found.map(({ workspace_id }) => workspace_id ?? ''),
  };
  if (onErased === null) return { ...slice, erased: { events: found.length }, remaining: {} };
  if (found.length === 0) return { ...slice, erased: {}, remaining: {} };
  const [done] = await tx.query<{ workspaces: string[]; deliveries: number }>('eraseNamedEvents', ERASE_EVENTS, [
    found.map(({ id }) => id),
    found.map(({ connection_id }) => connection_id),
    found.map((row) => row.rank),
  ]);
  const { workspaces, deliveries } = done ?? { workspaces: [], deliveries: 0 };
  if (workspaces.length > 0) await onErased(tx, workspaces);
  const events = workspaces.length;
  return { ...slice, erased: { events, deliveries }, remaining: { events: found.length - events } };
}

// `due` holds each delivery of an event, or leaves the event.
const ERASE_EVENTS = `
  with named as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::bigint[]) e(id, connection_id, rank)
  ), delivery_of as materialized (
    select n.id as event_id, d.id, d.subscription_id, d.status from named n
    join subscription s on s.connection_id = n.connection_id
    cross join unnest(array['pending', 'sending', 'delivered', 'failed', 'canceled']) o(status)
    cross join lateral (
      select d.id, d.subscription_id, d.status from delivery d
      where d.subscription_id = s.id and d.status = o.status and d.event_id = n.id) d
  ), held as materialized (
    select d.id from delivery d where d.id = any(array(select id from delivery_of)) and d.status in ('delivered', 'failed', 'canceled')
    order by d.id for update skip locked
  ), due as materialized (
    select n.* from named n
    where not exists (select from delivery_of d where d.event_id = n.id and d.id not in (select id from held))
  ), gone as (
    delete from delivery where id in (select d.id from delivery_of d join due on due.id = d.event_id) returning subscription_id
  ), counted as (
    insert into erased_deliveries as c (subscription_id, deliveries)
    select subscription_id, count(*) from gone group by subscription_id order by subscription_id
    on conflict (subscription_id) do update set deliveries = c.deliveries + excluded.deliveries
  ), unlisted as (
    delete from event_position p using due d where p.connection_id = d.connection_id and p.rank = d.rank
  ), erased as (
    delete from event where id in (select id from due) returning workspace_id
  )
  select array(select workspace_id::text from erased) as workspaces, (select count(*)::int from gone) as deliveries`;
