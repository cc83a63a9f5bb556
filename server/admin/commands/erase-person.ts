import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { namesIn } from '../../../actors/capabilities/person-fields.js';
import {
  connectionsOf,
  erasePerson,
  type Found,
  findPerson,
  type PersonErasure,
} from '../../../storage/erasure/person.js';
import type { PersonFields } from '../../../storage/erasure/person-fields.js';
import type { ErasureRequest } from '../../../storage/erasure/receipts.js';
import { DataVault } from '../../../storage/secrets/data-vault.js';
import { KeyUnknown, keyRing } from '../../../storage/secrets/encryption.js';
import { eventSchema } from '../../routes/subscriptions/event-json.js';
import { type Answer, Failure } from '../answer.js';
import { Progress } from '../progress.js';
import type { AdminSession } from '../session.js';
import { finished, hiddenFor, opened, removed } from './erasure.js';

type PersonRequest = ErasureRequest & { kind: 'person' };

/** What `--person` finds now, and what `--confirm` then takes. */
export async function showPerson(session: AdminSession, request: PersonRequest): Promise<Answer> {
  const now = await found(session, request, new Progress());
  return {
    would_erase: now.erased,
    would_remain: now.remaining,
    workspaces: [...now.workspaces].map(([workspace_id, counts]) => ({ workspace_id, ...counts })),
    confirm: totalOf(now),
  };
}

const totalOf = ({ workspaces }: Found): number =>
  [...workspaces.values()].flatMap((counts) => Object.values(counts)).reduce((sum, one) => sum + one, 0);

/** Erases what names a person, if it is no more than was confirmed (STO-7). */
export async function erasePersonConfirmed(
  session: AdminSession,
  request: PersonRequest,
  { confirm, rewrite }: { confirm: number; rewrite: boolean },
): Promise<Answer> {
  const progress = new Progress();
  const total = totalOf(await found(session, request, progress));
  if (total > confirm) {
    throw new Failure(
      `${total} name the person, more than were confirmed: look again without --confirm; nothing was erased`,
    );
  }
  const receipt = await opened(session, request);
  const counts = await personErased(session, { request, receipt, progress });
  return finished(session, { receipt, rewrite, progress, counts });
}

interface PersonRun {
  request: PersonRequest;
  receipt: string;
  progress: Progress;
}

/** Each workspace that loses something gets an entry in its audit log, in the transaction of the first that it loses. */
async function personErased(session: AdminSession, { request, receipt, progress }: PersonRun) {
  const told = new Set<string | null>([request.workspaceId]);
  const accounts = await connectionsOf(session.db, request);
  const hidden: string[] = [];
  for (const { id } of accounts) if (await hiddenFor(session, id, receipt)) hidden.push(id);
  const connections = await removed(session, hidden, progress);
  const { erased, remaining } = await walked(session, request, (erasure) => {
    return erasePerson(session.db, { ...erasure, progress: tellOf(progress, 'erased') }, async (tx, workspaceIds) => {
      const untold = new Set(workspaceIds.filter((one) => !told.has(one)));
      for (const workspaceId of untold) await session.record(tx, [], { workspaceId, details: { receipt } });
      for (const one of untold) told.add(one);
    });
  });
  return {
    erased: { ...erased, connections },
    remaining: { ...remaining, connections: accounts.length - hidden.length },
  };
}

const found = (session: AdminSession, request: PersonRequest, progress: Progress): Promise<Found> =>
  walked(session, request, (erasure) => findPerson(session.db, { ...erasure, progress: tellOf(progress, 'found') }));

const tellOf =
  (progress: Progress, done: 'found' | 'erased'): PersonErasure['progress'] =>
  (read, { operations, events }) =>
    progress.tell(`${read.operations} operations and ${read.events} events read, ${operations} and ${events} ${done}`);

async function walked<Result>(
  { keys }: AdminSession,
  { person, workspaceId }: PersonRequest,
  walk: (erasure: Omit<PersonErasure, 'progress'>) => Promise<Result>,
): Promise<Result> {
  const vault = new DataVault(keyRing(await keys()));
  try {
    return await walk({ person, workspaceId, vault, fields: personFields() });
  } catch (error) {
    if (error instanceof KeyUnknown) throw new Failure(`what is sealed cannot be read without the key ${error.keyId}`);
    throw error;
  }
}

/** By the types of the catalogue, and of events. An operation of a capability that is in it no more names nobody. */
function personFields(): PersonFields {
  const inputs = new Map(capabilities.map(({ name, schemas }) => [name as string, namesIn(schemas, 0)]));
  const results = new Map(capabilities.map(({ name, schemas }) => [name as string, namesIn(schemas, 1)]));
  const event = namesIn(eventSchema);
  return {
    input: (capability, input) => inputs.get(capability)?.(input) ?? [],
    result: (capability, result) => results.get(capability)?.(result) ?? [],
    event: (data) => event({ data }),
  };
}
