import { setTimeout as delay } from 'node:timers/promises';
import { LIMITS } from '../limits.js';
import { eraseFiles } from '../maintenance/retention/operations.js';
import { OPERATION_STEPS } from '../model/transitions.js';
import type { AtRest, Vault } from '../model/vault.js';
import type { Database, Sql, Transaction } from '../postgres/database.js';
import { findsRow } from '../postgres/finds-row.js';
import { eventDataContext, inputContext, resultContext } from '../secrets/sealing.js';
import { isNamed, type PersonFields } from './person-fields.js';
import { type ErasedCounts, NOTHING } from './receipts.js';

export interface PersonErasure {
  /** As the network names the person. */
  person: string;
  /** Of one workspace alone; null: of all. */
  workspaceId: string | null;
  /** Where people are named. */
  fields: PersonFields;
  /** Opens what is sealed. */
  vault: Vault;
  /** Is told how far it is after each slice. */
  progress: (read: { operations: number; events: number }, counts: ErasedCounts) => void;
}

/** Is told of workspaces in the transaction that erases something of theirs, perhaps again. */
export type OnErased = (tx: Transaction, workspaceIds: readonly string[]) => Promise<void>;

/** What names the person now. */
export interface Found {
  /** What would go. */
  erased: ErasedCounts;
  /** What has not ended. */
  remaining: ErasedCounts;
  /** How much of it each workspace has. */
  workspaces: Map<string, Pick<ErasedCounts, 'connections' | 'operations' | 'events' | 'invitations'>>;
}

/** What one slice did. */
interface Slice {
  read: number;
  /** Where the next one goes on; null when this was the last one. */
  last: string | null;
  erased: Partial<ErasedCounts>;
  remaining: Partial<ErasedCounts>;
  /** Whose rows it found. */
  workspaceIds: string[];
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Before every position of every list. */
const FIRST_POSITION = `${FIRST_ID} 0`;

type Person = Pick<PersonErasure, 'person' | 'workspaceId'>;

/** The connections whose account is the person's, those too whose rows are still to go. */
export function connectionsOf(
  sql: Sql,
  { person, workspaceId }: Person,
): Promise<{ id: string; workspace_id: string }[]> {
  return sql.query<{ id: string; workspace_id: string }>(
    'connectionsOfPerson',
    `select id, workspace_id from connection where (lower(username) = lower($1) or lower(actor_id) = lower($1))
       and ($2::uuid is null or workspace_id = $2) order by id`,
    [person, workspaceId],
  );
}

/**
 * Counts what names the person, and changes nothing. Reads every operation and event, slice by slice.
 * @throws KeyUnknown when something is sealed under a key that the vault lacks
 */
export async function findPerson(db: Database, erasure: PersonErasure): Promise<Found> {
  const workspaces: Found['workspaces'] = new Map();
  const count = (kind: 'connections' | 'operations' | 'events' | 'invitations', ids: readonly string[]) => {
    for (const id of ids) {
      const counts = workspaces.get(id) ?? { connections: 0, operations: 0, events: 0, invitations: 0 };
      counts[kind] += 1;
      workspaces.set(id, counts);
    }
    return ids.length;
  };
  const connections = await connectionsOf(db, erasure);
  const { erased, remaining } = await walk(db, erasure, null, (kind, ids) => count(kind, ids));
  erased.connections = count(
    'connections',
    connections.map(({ workspace_id }) => workspace_id),
  );
  erased.invitations = count('invitations', await invitationsOf(db, erasure));
  return { erased, remaining, workspaces };
}

/**
 * Erases what names the person (STO-7), but for connections: operations that have ended lose input, result, files, evidence and details, and
 * stay; events go with their deliveries, once these have ended. Reads every operation and event, slice by slice, each a transaction of its own.
 * @throws KeyUnknown when something is sealed under a key that the vault lacks
 */
export async function erasePerson(
  db: Database,
  erasure: PersonErasure,
  onErased: OnErased,
): Promise<{ erased: ErasedCounts; remaining: ErasedCounts }> {
  const { erased, remaining } = await walk(db, erasure, onErased, () => {});
  erased.invitations = await db.transaction(async (tx) => {
    const gone = await eraseInvitations(tx, erasure);
    if (gone.length > 0) await onErased(tx, gone);
    return gone.length;
  });
  return { erased, remaining };
}

async function walk(
  db: Database,
  erasure: PersonErasure,
  /** Null: nothing is erased. */
  onErased: OnErased | null,
  onFound: (kind: 'operations' | 'events', workspaceIds: readonly string[]) => void,
): Promise<{ erased: ErasedCounts; remaining: ErasedCounts }> {
  const named = isNamed(erasure.person);
  const erased = { ...NOTHING };
  const remaining = { ...NOTHING };
  const read = { operations: 0, events: 0 };
  for (const [kind, slice, first] of [
    ['operations', operationSlice, FIRST_ID],
    ['events', eventSlice, FIRST_POSITION],
  ] as const) {
    for (let after: string | null = first; after !== null; ) {
      const from: string = after;
      const begun = performance.now();
      const done: Slice = await db.transaction(async (tx) => {
        await walkByIndex(tx);
        return slice(tx, { ...erasure, named, onErased, after: from });
      });
      read[kind] += done.read;
      add(erased, done.erased);
      add(remaining, done.remaining);
      onFound(kind, done.workspaceIds);
      erasure.progress(read, erased);
      after = done.last;
      // As long as it took: others get half of what the database can do.
      if (after !== null) await delay(performance.now() - begun);
    }
  }
  return { erased, remaining };
}

/** Rows are read in the order of an index, whatever the planner takes the sizes for. */
async function walkByIndex(tx: Sql): Promise<void> {
  await tx.query(
    'walkByIndex',
    `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`,
  );
}

function add(counts: ErasedCounts, more: Partial<ErasedCounts>): void {
  for (const [kind, count] of Object.entries(more)) counts[kind as keyof ErasedCounts] += count;
}

interface Search extends Pick<PersonErasure, 'fields' | 'vault' | 'workspaceId'> {
  named: ReturnType<typeof isNamed>;
  onErased: OnErased | null;
  after: string;
}

interface OperationValues {
  id: string;
  workspace_id: string;
  capability: string;
  status: (typeof OPERATION_STEPS.statuses)[number];
  input: object | null;
  input_sealed: Buffer | null;
  result: object | null;
  result_sealed: Buffer | null;
  asked: boolean;
}

/** Indexes: operation_pkey, operation_by_workspace. */
async function operationSlice(
  tx: Transaction,
  { fields, named, vault, workspaceId, onErased, after }: Search,
): Promise<Slice> {
  const rows = await tx.query<OperationValues>(
    workspaceId === null ? 'readOperationValues' : 'readOperationValuesOfWorkspace',
    `select o.id, o.workspace_id, o.capability, o.status, o.input, o.input_sealed, o.result, o.result_sealed, ${findsRow('from look_request l where l.operation_id = o.id')} as asked
     from operation o where ${workspaceId === null ? '$3::uuid is null' : 'o.workspace_id = $3'} and o.id > $1 order by o.id limit $2`,
    [after, LIMITS.erasure_rows, workspaceId],
  );
  const open = (plain: object | null, sealed: Buffer | null, context: string) =>
    vault.openValue({ plain, sealed } satisfies AtRest<object>, context);
  const found = rows.filter(
    ({ id, capability, input, input_sealed, result, result_sealed }) =>
      named(fields.input(capability, open(input, input_sealed, inputContext(id)))) ||
      named(fields.result(capability, open(result, result_sealed, resultContext(id)))),
  );
  const ended = found.filter(({ status, asked }) => OPERATION_STEPS.isTerminal(status) && !asked).map(({ id }) => id);
  const slice = {
    read: rows.length,
    last: rows.length === LIMITS.erasure_rows ? (rows.at(-1)?.id ?? null) : null,
    workspaceIds: found.map(({ workspace_id }) => workspace_id),
  };
  if (onErased === null) {
    const running = found.length - ended.length;
    return { ...slice, erased: { operations: ended.length }, remaining: { operations: running } };
  }
  const held = await tx.query<{ id: string }>(
    'holdNamedOperations',
    `select o.id from operation o where o.id = any($1) and not exists (select from look_request l where l.operation_id = o.id)
     order by o.id for update of o skip locked`,
    [ended],
  );
  const ids = held.map(({ id }) => id);
  // While there are many parts of files, a slice takes only those, and comes again.
  if (ids.length > 0 && (await eraseFiles(tx, ids)) === LIMITS.removal_file_parts) {
    return { read: 0, last: after, erased: {}, remaining: {}, workspaceIds: [] };
  }
  // A look that was asked for while the rows were being locked is seen here.
  const gone = await tx.query<{ id: string; workspace_id: string }>(
    'eraseNamedOperations',
    `update operation set input = null, input_sealed = null, input_erased_at = coalesce(input_erased_at, now()), result = null,
       result_sealed = null, result_erased_at = case when status = 'succeeded' then coalesce(result_erased_at, now()) else result_erased_at end,
       evidence = null, evidence_look = null, evidence_look_sealed = null,
       error_details = case when error_details is not null then jsonb_build_object('retryable', error_details -> 'retryable') end
     where id = any($1) and not exists (select from look_request l where l.operation_id = operation.id) returning id, workspace_id`,
    [ids],
  );
  const erased = gone.map(({ id }) => id);
  // Nothing can be looked for any more: it is no longer told as to be looked at.
  await tx.query('forgetNamedUnknown', 'delete from unknown_outcome where operation_id = any($1)', [erased]);
  if (gone.length > 0)
    await onErased(
      tx,
      gone.map(({ workspace_id }) => workspace_id),
    );
  return { ...slice, erased: { operations: gone.length }, remaining: { operations: found.length - gone.length } };
}

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
async function eventSlice(
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

/** Whose they are. */
async function invitationsOf(sql: Sql, { person, workspaceId }: Person): Promise<string[]> {
  const rows = await sql.query<{ workspace_id: string }>(
    'invitationsOfPerson',
    `select c.workspace_id from simulated_invitation i join connection c on c.id = i.connection_id
     where lower(i.recipient) = lower($1) and ($2::uuid is null or c.workspace_id = $2)`,
    [person, workspaceId],
  );
  return rows.map(({ workspace_id }) => workspace_id);
}

async function eraseInvitations(sql: Sql, { person, workspaceId }: Person): Promise<string[]> {
  const rows = await sql.query<{ workspace_id: string }>(
    'eraseInvitations',
    `delete from simulated_invitation i using connection c where c.id = i.connection_id and lower(i.recipient) = lower($1)
       and ($2::uuid is null or c.workspace_id = $2) returning c.workspace_id`,
    [person, workspaceId],
  );
  return rows.map(({ workspace_id }) => workspace_id);
}
