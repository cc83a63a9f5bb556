import type { Logger } from '../../storage/log.js';
import { refusesValues } from '../../storage/postgres/database.js';
import { retrying } from '../retry.js';
import type { Finish, OperationBatches } from './operation-batches.js';

/** What became of the end of an attempt. */
export type Stored =
  | { kind: 'stored'; end: Finish }
  /** The row no longer holds this attempt: nothing was stored. */
  | { kind: 'not_held' }
  /** The database did not answer for as long as it might be stored here: recovery decides. */
  | { kind: 'given_up' };

export interface EndOptions {
  /** What is stored instead of an end whose values the database refuses. */
  fallback(): Finish;
  /** Whether the end is still only this actor's to store. Read after each failure. */
  mayStore(): boolean;
}

/** Stores the end of an attempt, again and again while the database does not answer and `mayStore` allows it. */
export async function storeEnd(
  { batches, log }: { batches: OperationBatches; log: Logger },
  end: Finish,
  { fallback, mayStore }: EndOptions,
): Promise<Stored> {
  let stored = end;
  try {
    const held = await retrying(
      () => batches.finish(stored),
      (error) => {
        log.error({ err: error, operation_id: end.operation.id }, 'outcome could not be stored');
        if (!mayStore()) throw error;
        if (stored === end && refusesValues(error)) stored = fallback();
      },
    );
    return held ? { kind: 'stored', end: stored } : { kind: 'not_held' };
  } catch {
    return { kind: 'given_up' };
  }
}
