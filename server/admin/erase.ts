import type { Command } from 'commander';
import { awaitRemoval, ConnectionBusy, hideConnection } from '../../storage/erasure/connection.js';
import { connectionsOf, erasePerson } from '../../storage/erasure/person.js';
import {
  closeReceipt,
  type ErasedCounts,
  type ErasureRequest,
  findOpenReceipt,
  findReceipt,
  listReceipts,
  NOTHING,
  noteErased,
  openReceipt,
  type Receipt,
} from '../../storage/erasure/receipts.js';
import { cleanFiles, SeenByOthers, TableInUse } from '../../storage/erasure/rewrite.js';
import { createLogger } from '../../storage/log.js';
import { DataVault } from '../../storage/secrets/data-vault.js';
import { KeyUnknown, keyRing } from '../../storage/secrets/encryption.js';
import { type Answer, Failure } from './answer.js';
import { id, identifier, pageLimit } from './arguments.js';
import { Progress } from './progress.js';
import type { AdminSession, Perform } from './session.js';

interface EraseOptions {
  connection?: string;
  person?: string;
  workspace?: string;
  rewrite?: true;
  dryRun?: true;
}

/** `erase --connection ID`, `erase --person NAME`: at somebody's request, with a receipt (STO-7). */
export function eraseCommands(program: Command, perform: Perform): void {
  program
    .command('erase')
    .description('erase a connection, or all that names a person, at a request')
    .option('--connection <id>', 'the connection with all that belongs to it', id)
    .option(
      '--person <identifier>',
      'as the network names the person: an id, a public identifier, an address',
      identifier,
    )
    .option('--workspace <id>', 'of a person: in this workspace alone', id)
    .option('--dry-run', 'of a person: count what would be erased, and erase nothing')
    .option('--rewrite', 'write the tables to new files: nobody can use a table while it is written')
    .action((options: EraseOptions, command: Command) => {
      const request = requestOf(options, command);
      if (options.dryRun) {
        if (request.kind !== 'person') command.error('error: --dry-run goes with --person');
        perform((session) => counted(session, request), { action: 'command.read' });
      } else {
        perform((session) => erase(session, request, options.rewrite ?? false), { action: `erase.${request.kind}` });
      }
    });
  const noun = program.command('receipt').description('what was erased at requests');
  noun
    .command('list')
    .option('--cursor <id>', 'from the `next_cursor` of the page before', id)
    .option('--limit <n>', 'how many', pageLimit, 100)
    .action(({ cursor, limit }: { cursor?: string; limit: number }) => {
      perform(
        async ({ db }) => {
          const found = await listReceipts(db, cursor ?? null, limit + 1);
          const receipts = found.slice(0, limit);
          return { receipts, next_cursor: found.length > limit ? receipts.at(-1)?.id : null };
        },
        { action: 'command.read' },
      );
    });
  noun
    .command('show')
    .requiredOption('--receipt <id>', 'which one', id)
    .option('--person <identifier>', 'is it about this person?', identifier)
    .action(({ receipt, person }: { receipt: string; person?: string }) => {
      perform(
        async ({ db }) => {
          const found = await findReceipt(db, receipt, person ?? null);
          if (!found) throw new Failure(`there is no receipt ${receipt}`);
          return { ...found };
        },
        { action: 'command.read' },
      );
    });
}

function requestOf({ connection, person, workspace }: EraseOptions, command: Command): ErasureRequest {
  if ((connection === undefined) === (person === undefined)) {
    command.error('error: it wants either --connection or --person');
  }
  if (connection !== undefined && workspace !== undefined) command.error('error: --workspace goes with --person');
  if (connection !== undefined) return { kind: 'connection', connectionId: connection };
  return { kind: 'person', person: person ?? '', workspaceId: workspace ?? null };
}

async function erase(session: AdminSession, request: ErasureRequest, rewrite: boolean): Promise<Answer> {
  const { db } = session;
  const progress = new Progress();
  const receipt = await opened(session, request);
  const counts =
    request.kind === 'connection'
      ? {
          erased: { ...NOTHING, connections: await removed(session, [request.connectionId], progress) },
          remaining: NOTHING,
        }
      : await personErased(session, { request, receipt, progress });
  await noteErased(db, receipt, counts);
  const refused = await cleaned(session, rewrite, progress);
  if (refused === null) await closeReceipt(db, receipt, rewrite);
  const left = Object.entries(counts.remaining).filter(([, count]) => count > 0);
  if (left.length > 0) {
    const told = left.map(([kind, count]) => `${count} ${kind}`).join(', ');
    throw new Failure(`what has not ended, or is in use, stays: ${told}; run it again later (receipt ${receipt})`);
  }
  if (refused !== null) throw new Failure(`${refused}: run it again later (receipt ${receipt})`);
  return { receipt: (await findReceipt(db, receipt, null)) satisfies Receipt | undefined };
}

/** The receipt, in one transaction with the entry of the audit log, and of a connection with its deletion. */
async function opened({ db, record }: AdminSession, request: ErasureRequest): Promise<string> {
  if (request.kind === 'person') {
    return db.transaction(async (tx) => {
      const receipt = await openReceipt(tx, request);
      await record(tx, [], { workspaceId: request.workspaceId, details: { receipt } });
      return receipt;
    });
  }
  const { connectionId } = request;
  const hidden = db.transaction(async (tx) => {
    const workspaceId = await hideConnection(tx, connectionId);
    // Of one that was killed: its rows may be gone, and what it left in the files is not.
    const open = await findOpenReceipt(tx, connectionId);
    if (workspaceId === undefined && open === undefined) throw new Failure(`there is no connection ${connectionId}`);
    const receipt = open ?? (await openReceipt(tx, request));
    await record(tx, [['connection', connectionId]], { workspaceId: workspaceId ?? null, details: { receipt } });
    return receipt;
  });
  return hidden.catch((error) => {
    if (!(error instanceof ConnectionBusy)) throw error;
    throw new Failure('an operation of the connection is under way, or it is in use: run it again when that has ended');
  });
}

/** What `--person` would find now. */
async function counted(session: AdminSession, request: ErasureRequest & { kind: 'person' }): Promise<Answer> {
  const connections = (await connectionsOf(session.db, request)).length;
  const { erased, remaining } = await named(session, request, new Progress(), true);
  return { would_erase: { ...erased, connections }, would_remain: remaining };
}

/** Waits until these hidden connections are gone; gives how many. */
async function removed({ db }: AdminSession, ids: readonly string[], progress: Progress): Promise<number> {
  const log = createLogger({ level: 'warn', format: 'json' }, {});
  if (ids.length > 0)
    await awaitRemoval({ db, log }, ids, (left) => progress.tell(`${left} connections are being removed`));
  return ids.length;
}

interface PersonRun {
  request: ErasureRequest & { kind: 'person' };
  receipt: string;
  progress: Progress;
}

async function personErased(session: AdminSession, { request, receipt, progress }: PersonRun) {
  const found = await connectionsOf(session.db, request);
  const hidden: string[] = [];
  for (const one of found) if (await hiddenFor(session, one, receipt)) hidden.push(one);
  const connections = await removed(session, hidden, progress);
  const { erased, remaining } = await named(session, request, progress);
  return {
    erased: { ...erased, connections },
    remaining: { ...remaining, connections: found.length - hidden.length },
  };
}

/** Each with an entry of its own, which its workspace sees; false while it is in use. */
async function hiddenFor({ db, record }: AdminSession, connectionId: string, receipt: string): Promise<boolean> {
  const hidden = db.transaction(async (tx) => {
    const workspaceId = await hideConnection(tx, connectionId);
    if (workspaceId) await record(tx, [['connection', connectionId]], { workspaceId, details: { receipt } });
    return true;
  });
  return hidden.catch((error) => {
    if (error instanceof ConnectionBusy) return false;
    throw error;
  });
}

async function named(
  { db, keys }: AdminSession,
  request: ErasureRequest & { kind: 'person' },
  progress: Progress,
  dryRun = false,
): Promise<{ erased: ErasedCounts; remaining: ErasedCounts }> {
  const { person, workspaceId } = request;
  const vault = new DataVault(keyRing(await keys()));
  try {
    return await erasePerson(db, {
      ...{ person, workspaceId, vault, dryRun },
      progress: (read, erased) =>
        progress.tell(
          `${read.operations} operations and ${read.events} events read, ${erased.operations} and ${erased.events} erased`,
        ),
    });
  } catch (error) {
    if (error instanceof KeyUnknown) throw new Failure(`what is sealed cannot be read without the key ${error.keyId}`);
    throw error;
  }
}

/** Null, or why the files were not cleaned. */
async function cleaned({ db }: AdminSession, rewrite: boolean, progress: Progress): Promise<string | null> {
  try {
    await cleanFiles(db, rewrite, (table) => progress.tell(`${rewrite ? 'rewriting' : 'vacuuming'} ${table}`));
    return null;
  } catch (error) {
    if (error instanceof TableInUse) return `the table ${error.message} is in use and was not rewritten`;
    if (error instanceof SeenByOthers) return error.message;
    throw error;
  }
}
