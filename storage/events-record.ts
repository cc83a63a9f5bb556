import { v7 as uuidv7 } from 'uuid';
import type { Sql } from './database.js';
import { JOB_COLUMNS, JOB_FOREVER } from './jobs.js';
import type { NewEvent } from './records.js';

/** An event that was new, and how many deliveries came with it. */
export interface RecordedEvent {
  id: string;
  connectionId: string;
  partition: number;
  deliveries: number;
}

/**
 * Records events, a delivery for each matching active subscription, and the deliveries' jobs, in one statement
 * (spec: "Events are persisted before delivery"). An event its connection has already is left out (decision E8), as
 * is one whose connection is not in the workspace. Connections are locked before subscriptions, in the order of a
 * disconnect. Subscriptions are locked FOR SHARE: a deactivation either comes first and gets no delivery, or comes after
 * and cancels it.
 */
export async function recordEvents(tx: Sql, workspaceId: string, events: NewEvent[]): Promise<RecordedEvent[]> {
  if (events.length === 0) return [];
  return tx.query<RecordedEvent>(
    'recordEvents',
    `with input as (
       select * from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::jsonb[])
         i(id, connection_id, provider_event_id, type, data)
     ), held as materialized (
       select c.id from connection c
       where c.workspace_id = $1 and c.id in (select i.connection_id from input i) order by c.id for key share
     ), stored as (
       insert into event (id, workspace_id, connection_id, provider_event_id, type, data)
       select i.id, $1, i.connection_id, i.provider_event_id, i.type, i.data
       from input i join held h on h.id = i.connection_id
       order by i.connection_id, i.provider_event_id
       on conflict (connection_id, provider_event_id) do nothing
       returning id, connection_id, type
     ), matching as materialized (
       select s.id, s.partition, e.id as event_id
       from subscription s join stored e on e.connection_id = s.connection_id
       where s.active and e.type = any(s.event_types)
       for share of s
     ), delivery as (
       insert into delivery (id, workspace_id, subscription_id, event_id, partition, status, next_attempt_at)
       select gen_random_uuid(), $1, m.id, m.event_id, m.partition, 'pending', now() from matching m
       returning id, partition, event_id
     ), job as (
       insert into pgboss.job_common (${JOB_COLUMNS})
       select d.id, 'delivery-' || d.partition, 'created', null, now(), ${JOB_FOREVER} from delivery d
     )
     select s.id, s.connection_id as "connectionId", c.partition,
       (select count(*)::int from delivery d where d.event_id = s.id) as deliveries
     from stored s join connection c on c.id = s.connection_id`,
    [
      workspaceId,
      events.map(() => uuidv7()),
      events.map((e) => e.connectionId),
      events.map((e) => e.providerEventId),
      events.map((e) => e.type),
      events.map((e) => JSON.stringify(e.data)),
    ],
  );
}
