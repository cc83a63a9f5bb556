import type { Logger } from '../../../storage/log/log.js';
import { storedEnd } from '../../../storage/operations/execution.js';
import { type Database, refusesValues } from '../../../storage/postgres/database.js';
import { retrying } from '../../retry.js';
import { ConnectionMoved, type Ended, type Finish, type OperationBatches } from './operation-batches.js';

/** What became of the end of an attempt. */
export type Stored =
  /** `status`: what its operation is now; `canceled` instead of `queued` when that was requested meanwhile. */
  | ({ kind: 'stored'; end: Finish } & Ended)
  /** The row no longer holds this attempt: nothing was stored. */
  | { kind: 'not_held' }
  /** The database did not answer for as long as it might be stored here: recovery decides. */
  | { kind: 'given_up' };

export interface EndOptions {
  /** What is stored instead of an end whose values the database refuses. */
  fallback(): Finish;
  /** What is stored instead of an end whose change the connection has outlived. Changes nothing on it. */
  outlived(): Finish;
  /** Whether the end is still only this actor's to store. Read after each failure. */
  mayStore(): boolean;
}

/**
 * Stores the end of an attempt, again and again while the database does not answer and `mayStore` allows it. An end that is no
 * longer held after its answer was lost may be no longer held because it was stored.
 */
export async function storeEnd(
  { db, batches, log }: { db: Database; batches: OperationBatches; log: Logger },
  end: Finish,
  { fallback, outlived, mayStore }: EndOptions,
): Promise<Stored> {
  let stored = end;
  let unsure = false;
  const endedBefore = async (): Promise<Ended | undefined> => {
    const status = await storedEnd(db, stored.operation);
    return status && { status, started: undefined }; // what may have started with it is asked for by its attempt
  };
  try {
    const ended = await retrying(
      async () => (await batches.finish(stored)) ?? (unsure ? endedBefore() : undefined),
      (error) => {
        if (error instanceof ConnectionMoved) {
          stored = outlived();
          return;
        }
        log.error({ err: error, operation_id: end.operation.id }, 'operation: its end could not be stored');
        if (!mayStore()) throw error;
        unsure = true;
        if (stored === end && refusesValues(error)) stored = fallback();
      },
    );
    return ended ? { kind: 'stored', end: stored, ...ended } : { kind: 'not_held' };
  } catch {
    return { kind: 'given_up' };
  }
}
