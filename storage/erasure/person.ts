import { setTimeout as delay } from 'node:timers/promises';
import type { Vault } from '../model/vault.js';
import type { Database, Sql } from '../postgres/database.js';
import { eventSlice } from './person-events.js';
import { isNamed, type PersonFields } from './person-fields.js';
import { operationSlice } from './person-operations.js';
import type { OnErased, Slice } from './person-slice.js';
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

/** What names the person now. */
export interface Found {
  /** What would go. */
  erased: ErasedCounts;
  /** What has not ended. */
  remaining: ErasedCounts;
  /** How much of it each workspace has. */
  workspaces: Map<string, Pick<ErasedCounts, 'connections' | 'operations' | 'events' | 'invitations'>>;
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
