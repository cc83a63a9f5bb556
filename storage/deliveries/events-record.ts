import { messageKeys } from '../model/message-keys.js';
import { newId } from '../model/new-id.js';
import { type NewEvent, OWN_EVENTS } from '../model/records.js';
import { DELIVERY_STEPS } from '../model/transitions.js';
import { bigints, byteas, jsonbs, texts, uuids } from '../postgres/arrays.js';
import type { Sql } from '../postgres/database.js';
import { makeJobsDue } from '../postgres/job-table.js';
import { pgSafeJson } from '../postgres/pg-safe-json.js';
import { eventDataContext } from '../secrets/sealing.js';

/** An event that was new, and how many deliveries came with it. */
export interface RecordedEvent {
  id: string;
  connection_id: string;
  partition: number;
  deliveries: number;
}

const OWN = `'{${OWN_EVENTS.join()}}'`;

// `held` finds connections by their ids alone, whatever the planner expects of a workspace, and joins nothing: a row lock copies every
// row that it is joined to. Few rows meet few, so that arrays are looked through faster than joins. `matching` goes from a connection to its
// subscriptions (`offset` keeps it so): without statistics the planner would read all subscriptions there are.
const RECORD = `
  with held as materialized (
    select c.id, c.workspace_id, c.partition, c.deleted_at from connection c where c.id = any($3) order by c.id for key share
  ), stored as (
    insert into event (id, workspace_id, connection_id, provider_event_id, type, data, data_sealed, conversation_hash, delivered_ms,
      traceparent)
    select i.id, $1, i.connection_id, i.provider_event_id, i.type, i.data, i.data_sealed, i.conversation_hash, i.delivered_ms,
      i.traceparent
    from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::jsonb[], $7::bytea[], $8::bytea[], $9::bigint[], $10::text[])
      i(id, connection_id, provider_event_id, type, data, data_sealed, conversation_hash, delivered_ms, traceparent)
    where i.connection_id = any(array(select id from held where workspace_id = $1 and deleted_at is null))
    on conflict (connection_id, provider_event_id) do nothing
    returning id, connection_id, type
  ), counted as materialized (
    insert into event_list as l (connection_id, event_count)
    select connection_id, count(*) from stored group by connection_id order by connection_id
    on conflict (connection_id) do update set event_count = l.event_count + excluded.event_count
    returning connection_id, event_count
  ), listed as materialized (
    select c.connection_id, s.id, s.type,
      c.event_count + 1 - row_number() over (partition by c.connection_id order by s.id desc) as rank
    from counted c join stored s on s.connection_id = c.connection_id
  ), position as (
    insert into event_position (connection_id, rank, event_id) select connection_id, rank, id from listed
  ), matching as materialized (
    select s.id, e.id as event_id, $11::uuid is not null or e.type = any(${OWN}) as own
    from listed e cross join lateral (
      select * from subscription where connection_id = e.connection_id and active offset 0) s
    where case when $11::uuid is null then e.type = any(s.event_types) and (not s.awaits_ready or e.type = any(${OWN}))
      else s.id = $11 end
  ), addressed as materialized (
    update subscription s set delivery_count = s.delivery_count + cardinality(m.event_ids)
    from (select id, array_agg(event_id order by event_id desc) as event_ids, bool_and(own) as own from matching group by id) m
    where s.id = any(array(select id from matching)) and s.id = m.id and s.active and (m.own or not s.awaits_ready)
    returning s.id, s.parent_id, s.partition, s.delivery_count, m.event_ids
  ), delivery as (
    insert into delivery (id, workspace_id, subscription_id, parent_id, event_id, partition, status, next_attempt_at, rank)
    select gen_random_uuid(), $1, a.id, a.parent_id, m.event_id, a.partition, ${DELIVERY_STEPS.firstSql}, now(),
      a.delivery_count + 1 - m.place
    -- No join of what was matched with what was counted: it would cost the square of a connection's subscriptions (measured).
    from addressed a cross join unnest(a.event_ids) with ordinality m(event_id, place)
    returning id, partition, event_id
  ), job as (
    ${makeJobsDue({ queue: 'delivery', from: 'addressed a', partition: 'a.partition', id: 'a.id', due: 'now()' })}
  )
  select s.id, s.connection_id, c.partition, coalesce(m.count, 0) as deliveries
  from stored s join held c on c.id = s.connection_id
  left join (select event_id, count(*)::int as count from delivery group by event_id) m on m.event_id = s.id`;

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Records events, a delivery for each matching active subscription (of `addressee` alone, where one is given, whatever it
 * selects), and makes the subscriptions' jobs due, in one statement. One that awaits its connection's being ready gets what the service
 * tells of itself alone
 * (contract: "Events are persisted before delivery"). An event that its connection has already is left out (EVT-8), as
 * is one whose connection is not in the workspace. Connections are locked before subscriptions, in the order of a
 * disconnect. Counting its deliveries locks a subscription, and asks it again: a deactivation or a disconnect either comes first and gets no
 * delivery, or comes after and cancels it. No call mixes what the service tells with what a provider sends.
 *
 * Events and deliveries get gapless ranks, the newest the count of its list (0004_list_positions.sql). Recorders of one
 * connection take turns from `counted` to their commit, so ranks become visible in their order.
 */
export async function recordEvents(
  tx: Sql,
  workspaceId: string,
  events: NewEvent[],
  addressee: string | null = null,
): Promise<RecordedEvent[]> {
  if (events.length === 0) return [];
  // Ids tell the order in which events came. Rows go in in one order everywhere: two recorders of the same events wait for each other
  // instead of deadlocking.
  const rows = events
    .map((event) => ({ id: newId(), ...event }))
    .sort((a, b) => compare(a.connectionId, b.connectionId) || compare(a.providerEventId, b.providerEventId));
  const data = rows.map((e) => tx.vault.store(pgSafeJson(e.data), eventDataContext(e.id)));
  // A plain one is found by what it says.
  const messages = rows.map((e, i) => (data[i]?.sealed ? messageKeys(tx.vault, e) : undefined));
  return tx.query<RecordedEvent>('recordEvents', RECORD, [
    workspaceId,
    uuids(rows.map((e) => e.id)),
    uuids(rows.map((e) => e.connectionId)),
    texts(rows.map((e) => e.providerEventId)),
    texts(rows.map((e) => e.type)),
    jsonbs(data.map(({ plain }) => plain)),
    byteas(data.map(({ sealed }) => sealed)),
    byteas(messages.map((keys) => keys?.conversation_hash ?? null)),
    bigints(messages.map((keys) => keys?.delivered_ms ?? null)),
    texts(rows.map(({ traceparent }) => traceparent ?? null)),
    addressee,
  ]);
}
