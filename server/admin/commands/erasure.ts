import { awaitRemoval, ConnectionBusy, hideConnection } from '../../../storage/erasure/connection.js';
import {
  closeReceipt,
  type ErasureRequest,
  findOpenReceipt,
  findReceipt,
  NOTHING,
  noteErased,
  openReceipt,
  type Receipt,
} from '../../../storage/erasure/receipts.js';
import { cleanFiles, SeenByOthers, TableInUse } from '../../../storage/erasure/rewrite.js';
import { createLogger } from '../../../storage/log/log.js';
import { type Answer, Failure } from '../answer.js';
import { Progress } from '../progress.js';
import type { AdminSession } from '../session.js';

/* The steps of an erasure at somebody's request: its receipt, connections, and its end. */

export async function eraseConnection(session: AdminSession, connectionId: string, rewrite: boolean): Promise<Answer> {
  const progress = new Progress();
  const receipt = await opened(session, { kind: 'connection', connectionId });
  const connections = await removed(session, [connectionId], progress);
  return finished(session, {
    ...{ receipt, rewrite, progress },
    counts: { erased: { ...NOTHING, connections }, remaining: NOTHING },
  });
}

/** The receipt, in one transaction with the entry of the audit log, and of a connection with its deletion. */
export async function opened({ db, record }: AdminSession, request: ErasureRequest): Promise<string> {
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

/** Each with an entry of its own, which its workspace sees; false while it is in use. */
export async function hiddenFor({ db, record }: AdminSession, connectionId: string, receipt: string): Promise<boolean> {
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

/** Waits until these hidden connections are gone; gives how many. */
export async function removed({ db }: AdminSession, ids: readonly string[], progress: Progress): Promise<number> {
  const log = createLogger({ level: 'warn', format: 'json' }, {});
  if (ids.length > 0)
    await awaitRemoval({ db, log }, ids, (left) => progress.tell(`${left} connections are being removed`));
  return ids.length;
}

interface Finish {
  receipt: string;
  rewrite: boolean;
  progress: Progress;
  counts: Pick<Receipt, 'erased' | 'remaining'>;
}

/** Cleans the files and closes the receipt; fails when something is left to another run. */
export async function finished(session: AdminSession, { receipt, rewrite, progress, counts }: Finish): Promise<Answer> {
  const { db } = session;
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
