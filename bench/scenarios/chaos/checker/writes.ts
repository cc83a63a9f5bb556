import type { LedgerRecord, OperationRecord } from '../evidence.js';
import { type Case, endOf, named } from './case.js';
import { LIMITS } from './limits.js';

/** Ends that say that the provider did nothing. */
const NOTHING_DONE: ReadonlySet<string> = new Set(['failed', 'canceled', 'skipped']);

/**
 * When the request of a write reached the network. One that the network kept for a while may have arrived before its operation's
 * end, and nobody could call it back.
 */
export function arrivedAt(run: Case, operation: OperationRecord, { at, received_at }: LedgerRecord): number {
  if (received_at !== undefined) return received_at;
  const kept = { from: at - LIMITS.delayed_write_ms, to: at };
  return run.faults.networkDelayed(operation.connection_id, kept) ? Math.min(at, endOf(operation) ?? at) : at;
}

/** The network has a write of each operation once at most. */
export function* writtenOnce(run: Case): Iterable<string> {
  for (const [key, writes] of run.writes.byKey) {
    if (writes.length > 1)
      yield `key ${key} was written ${writes.length} times: at ${writes.map(({ at }) => at).join(', ')}`;
  }
}

/** What ended as `succeeded` was written. */
export function* successWasWritten(run: Case): Iterable<string> {
  for (const operation of run.evidence.rows.operations) {
    const marker = run.submissionOf(operation)?.marker ?? null;
    if (marker === null || operation.status !== 'succeeded') continue;
    if (run.writesOf(operation).length === 0) yield `${named(operation)} succeeded, and the network has no write of it`;
  }
}

/** What ended as `failed`, `canceled` or `skipped` was not written. */
export function* nothingDoneWasNotWritten(run: Case): Iterable<string> {
  for (const operation of run.evidence.rows.operations) {
    const [write] = run.writesOf(operation);
    if (!write || !NOTHING_DONE.has(operation.status)) continue;
    yield `${named(operation)} ended as ${operation.status}, and was written at ${write.at}`;
  }
}

/** No write is later than its operation's end. */
export function* noWriteAfterTheEnd(run: Case): Iterable<string> {
  for (const operation of run.evidence.rows.operations) {
    const end = endOf(operation);
    if (end === undefined) continue;
    const last = run.writesOf(operation).reduce((at, write) => Math.max(at, arrivedAt(run, operation, write)), 0);
    if (last > end + LIMITS.late_write_ms) {
      yield `${named(operation)} was written ${last - end} ms after it had ended as ${operation.status}`;
    }
  }
}

/** Every write is of a submission, and that submission has an operation. What is older than the run belongs to its preparation. */
export function* everyWriteWasAskedFor(run: Case): Iterable<string> {
  for (const { account, text, at } of run.writes.unasked) {
    if (at >= run.evidence.run.started_at) yield `account ${account} wrote ${JSON.stringify(text)}, which nobody sent`;
  }
  for (const [key, [write]] of run.writes.byKey) {
    if (write && !run.operationsByKey.has(key)) yield `key ${key} was written at ${write.at} without an operation`;
  }
}

/** All writes of one connection are its own account's. */
export function* writesAreOfOneAccount(run: Case): Iterable<string> {
  const accounts = new Map<string, string>();
  for (const [key, writes] of run.writes.byKey) {
    const connection = run.submissionsByKey.get(key)?.connection_id ?? '';
    for (const { account } of writes) {
      const known = accounts.get(connection) ?? account;
      accounts.set(connection, known);
      if (known !== account) yield `key ${key} of connection ${connection} was written as ${account}, not as ${known}`;
    }
  }
}
