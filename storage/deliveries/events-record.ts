import { makeJobsDue } from '../jobs/job-table.js';
import { timeOfId } from '../model/id-time.js';
import { messageKeys } from '../model/message-keys.js';
import { newIdsAbove } from '../model/new-id.js';
import { type NewEvent, OWN_EVENTS } from '../model/records.js';
import { DELIVERY_STEPS } from '../model/transitions.js';
import { bigints, byteas, integers, jsonbs, texts, uuids } from '../postgres/arrays.js';
import type { Transaction } from '../postgres/database.js';
import { pgSafeJson } from '../postgres/pg-safe-json.js';
import { eventDataContext } from '../secrets/sealing.js';

/** An event that was new, and how many deliveries came with it. */
export interface RecordedEvent {
  id: string;
  connection_id: string;
  partition: number;
  deliveries: number;
}

/** What became of an event that was new: it is recorded, or `late`, because its connection has events with ids above its own. */
interface StoredEvent extends RecordedEvent {
  late: boolean;
}

/** Events of a stream that is no longer the connection's. */
interface RefusedEvents {
  id: null;
  connection_id: string;
  heard_under: number;
}

/** Below every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

const OWN = `'{${OWN_EVENTS.join()}}'`;

// `held` finds connections by their ids alone, whatever the planner expects of a workspace, and joins nothing: a row lock copies every
// row that it is joined to. Few rows meet few, so that arrays are looked through faster than joins. `matching` goes from a connection to its
// subscriptions (`offset` keeps it so): without statistics the planner would read all subscriptions there are. A transaction that ends a session
// locks the connection FOR UPDATE: it comes before `held` and is seen, or after the commit.
const RECORD = `
  with held as materialized (
    select c.id, c.workspace_id, c.partition, c.deleted_at, c.state_revision from connection c where c.id = any($3) order by c.id for key share
  ), stored as (
    insert into event (id, workspace_id, connection_id, provider_event_id, type, received_at, data, data_sealed, conversation_hash,
      delivered_ms, traceparent)
    select i.id, $1, i.connection_id, i.provider_event_id, i.type, to_timestamp(i.received_ms / 1000.0), i.data, i.data_sealed,
      i.conversation_hash, i.delivered_ms, i.traceparent
    from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::jsonb[], $7::bytea[], $8::bytea[], $9::bigint[], $10::text[],
      $12::integer[], $14::bigint[])
      i(id, connection_id, provider_event_id, type, data, data_sealed, conversation_hash, delivered_ms, traceparent, heard_under,
        received_ms)
    where i.connection_id = any(array(select id from held where workspace_id = $1 and deleted_at is null))
      and (i.heard_under is null or (i.connection_id, i.heard_under) in (select id, state_revision from held))
    on conflict (connection_id, provider_event_id) do nothing
    returning id, connection_id, type
  ), counted as materialized (
    insert into event_list as l (connection_id, event_count, id_floor)
    select connection_id, count(*), $15 from stored group by connection_id order by connection_id
    on conflict (connection_id) do update
      set event_count = l.event_count + excluded.event_count, id_floor = excluded.id_floor where l.id_floor < $13
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
  select s.id, s.connection_id, c.partition, coalesce(m.count, 0) as deliveries, null::integer as heard_under,
    s.connection_id <> all(array(select connection_id from counted)) as late
  from stored s join held c on c.id = s.connection_id
  left join (select event_id, count(*)::int as count from delivery group by event_id) m on m.event_id = s.id
  union all
  select null, i.connection_id, null, null, i.heard_under, false from unnest($3::uuid[], $12::integer[]) i(connection_id, heard_under)
  where i.heard_under is not null and (i.connection_id, i.heard_under) not in (select id, state_revision from held)`;

/** Takes late events back, whose lists `counted` has locked. Gives the floor of each list as it is behind that lock. */
const TAKE_BACK = `
  with taken_back as (delete from event where id = any($1))
  select id_floor from event_list where connection_id = any($2)`;

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Records events, a delivery for each matching active subscription (of `addressee` alone, where one is given, whatever it
 * selects), and makes the subscriptions' jobs due, in one statement. A subscription that awaits its connection's being ready gets what the service
 * tells of itself alone
 * (contract: "Events are persisted before delivery"). An event that its connection has already is left out (EVT-8), as
 * is one whose connection is not in the workspace, or has another revision than the stream that heard it (EVT-25). Connections are locked before subscriptions, in the order of a
 * disconnect. Counting its deliveries locks a subscription, and asks it again: a deactivation or a disconnect either comes first and gets no
 * delivery, or comes after and cancels it. No call mixes what the service tells with what a provider sends.
 *
 * Events and deliveries get gapless ranks, the newest the count of its list (`event_list` in 0001_schema.sql). Recorders of one
 * connection take turns from `counted` to their commit, so ranks become visible in their order, which is that of the ids as well (EVT-26): where
 * another one came first whose ids are above, the events of the connection are taken back, and recorded with new ids above those.
 */
export async function recordEvents(
  tx: Transaction,
  workspaceId: string,
  events: NewEvent[],
  addressee: string | null = null,
): Promise<RecordedEvent[]> {
  return (await recordHeard(tx, workspaceId, events, addressee)).recorded;
}

/** The same, and the events that were refused because their connection has another revision than the one that they were heard under. */
export async function recordHeard(
  tx: Transaction,
  workspaceId: string,
  events: NewEvent[],
  addressee: string | null = null,
): Promise<{ recorded: RecordedEvent[]; refused: NewEvent[] }> {
  const recorded: RecordedEvent[] = [];
  const refused: NewEvent[] = [];
  let above = NO_ID;
  for (let left = events; left.length > 0; ) {
    const outcome = await recordAbove(tx, workspaceId, left, above, addressee);
    const stored = outcome.filter((row) => row.id !== null);
    const fenced = outcome.filter((row) => row.id === null);
    const late = stored.filter((row) => row.late);
    const again = new Set(late.map((row) => row.connection_id));
    recorded.push(...stored.filter((row) => !row.late));
    const isFenced = ({ connectionId, heardUnder }: NewEvent) =>
      fenced.some((row) => row.connection_id === connectionId && row.heard_under === heardUnder);
    refused.push(...left.filter((event) => !again.has(event.connectionId) && isFenced(event)));
    left = left.filter(({ connectionId }) => again.has(connectionId));
    if (late.length > 0) above = await takeBack(tx, late);
  }
  return { recorded, refused };
}

/** Gives the highest id that one of their connections has. */
async function takeBack(tx: Transaction, late: StoredEvent[]): Promise<string> {
  const ids = late.map(({ id }) => id);
  const lists = await tx.query<{ id_floor: string }>('takeEventsBack', TAKE_BACK, [
    ids,
    late.map((row) => row.connection_id),
  ]);
  return (
    lists
      .map(({ id_floor }) => id_floor)
      .toSorted()
      .at(-1) ?? NO_ID
  );
}

/** One try, with ids above `above`. */
function recordAbove(
  tx: Transaction,
  workspaceId: string,
  events: NewEvent[],
  above: string,
  addressee: string | null,
): Promise<(StoredEvent | RefusedEvents)[]> {
  // Ids tell the order in which events came. Rows go in in one order everywhere: two recorders of the same events wait for each other
  // instead of deadlocking.
  const ids = newIdsAbove(above, events.length);
  const rows = events
    .map((event, i) => ({ ...event, id: ids[i]! }))
    .sort((a, b) => compare(a.connectionId, b.connectionId) || compare(a.providerEventId, b.providerEventId));
  const data = rows.map((e) => tx.vault.store(pgSafeJson(e.data), eventDataContext(e.id)));
  // A plain one is found by what it says.
  const messages = rows.map((e, i) => (data[i]?.sealed ? messageKeys(tx.vault, e) : undefined));
  return tx.query('recordEvents', RECORD, [
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
    integers(rows.map(({ heardUnder }) => heardUnder ?? null)),
    ids[0],
    bigints(rows.map((e) => timeOfId(e.id))),
    ids.at(-1),
  ]);
}
