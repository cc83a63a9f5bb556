import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import { newId } from '../../../storage/model/new-id.js';
import { partitionOf } from '../../../storage/model/records.js';
import {
  inputBytes,
  isLarge,
  type NewOperation,
  type Submitted,
  storedRow,
  submitOperations,
} from '../../../storage/operations/submission.js';
import { Batcher, type BatcherOptions, Full } from '../../../storage/postgres/batcher.js';
import type { Database } from '../../../storage/postgres/database.js';
import { outcomeUnknown } from '../../../storage/postgres/liveness.js';
import type { KeyRing } from '../../../storage/secrets/encryption.js';
import { inputContext } from '../../../storage/secrets/sealing.js';
import { capabilityNamed } from '../../capabilities/catalogue.js';
import { LIMITS } from '../../limits.js';
import { retryWaits } from '../../retry.js';
import type { Hint, Submission, SubmitOutcome } from '../../system.js';
import { ConnectionLanes } from './connection-lanes.js';
import type { Partition } from './partition.js';
import type { PendingStores } from './pending-stores.js';
import { type Prepared, StoringBatch } from './storing-batch.js';

/** What the committer needs from its thread. */
export interface CommitterOptions {
  db: Database;
  ring: KeyRing;
  /** Null: the installation's secret is sealed under a key that this node lacks, so a repeat could not be told from a new one. */
  fingerprint: ((text: string) => Buffer) | null;
  /** The partition when this thread owns it. */
  partition: (id: number) => Partition | undefined;
  /** What this thread is storing, which those who read rows know. */
  pendingStores: PendingStores;
  /** Is told how many submissions a statement takes. */
  flushed?: (submissions: number) => void;
  /** Sends a hint to an owner elsewhere that operations wait. */
  hint: (hint: Hint) => void;
}

/**
 * Stores the submissions of this thread's partitions in batches. Any node stores for any partition: when it is not the owner,
 * the owner gets a hint. Invariants: I1 an answer leaves only after the commit; I2 an operation is handed to its partition only
 * when it was stored for an open mailbox under that partition's epoch; I3 when it is not known whether a batch was stored, the partitions
 * that it would have been handed to are taken again before anything else is handed to them; I4 a batch is bounded in bytes, and small inputs
 * wait for a large one only if it is of their connection: large ones go into batches of their own; I5 one statement of a connection is
 * under way at a time: nothing is handed over before the answer of what was stored before it.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #batches: Readonly<Record<'small' | 'large', Batcher<Prepared, Submitted>>>;
  readonly #turns = new ConnectionLanes();
  /** The highest place in the order of acceptance that a statement of this thread has given. */
  #lastPlace = 0;

  constructor(options: CommitterOptions) {
    this.#options = options;
    const batching: BatcherOptions<Prepared, Submitted> = {
      maxItems: LIMITS.committer_batch_submissions,
      weigh: ({ operation }) => inputBytes(operation),
      maxWeight: LIMITS.committer_batch_bytes, // I4
      linger_ms: 0,
      concurrency: LIMITS.committer_statements,
      bound: LIMITS.committer_submissions,
      divide: { tenant: ({ operation }) => operation.workspaceId, within_ms: LIMITS.committer_division_ms },
      ...(options.flushed && { flushed: options.flushed }),
      flush: (prepared) => this.#store(prepared),
    };
    this.#batches = { small: new Batcher(batching), large: new Batcher(batching) };
  }

  /**
   * Stores one submission and gives what became of it. Rejects when the database fails: then nothing is promised, and the same key
   * may be sent again.
   */
  async submit(submission: Submission): Promise<SubmitOutcome> {
    const until = performance.now() + LIMITS.submission_ms;
    const waits = retryWaits();
    for (;;) {
      const outcome = await this.#submitOnce(submission);
      if (outcome.kind !== 'locked') return outcome;
      // The connection is being changed, and this submission alone waits for it.
      const wait_ms = waits.next_ms();
      if (performance.now() + wait_ms > until) return { kind: 'overloaded', what: 'connection' };
      await delay(wait_ms);
    }
  }

  async #submitOnce(submission: Submission): Promise<SubmitOutcome | { kind: 'locked' }> {
    const partition = partitionOf(submission.connectionId);
    if (this.#options.partition(partition)?.full(submission.connectionId))
      return { kind: 'overloaded', what: 'connection' };
    const operation = this.#prepare(submission, partition);
    if (!operation) return { kind: 'encryption_key_unavailable' };
    const { pendingStores } = this.#options;
    const prepared = { operation, input: submission.input };
    const lane = isLarge(operation) ? 'large' : 'small'; // I4
    let stored: Submitted;
    pendingStores.add(operation.id);
    try {
      stored = await this.#turns.take(submission.connectionId, lane, () => this.#batches[lane].add(prepared)); // I1, I5
    } catch (error) {
      if (error instanceof Full) return { kind: 'overloaded', what: 'node' };
      throw error;
    } finally {
      pendingStores.answered(operation.id);
    }
    switch (stored.kind) {
      case 'created':
        return { kind: 'created', operation: storedRow(operation, stored.place) };
      case 'replayed':
        return { kind: 'replayed', operationId: stored.operationId };
      case 'conflict':
      case 'not_found':
      case 'locked':
        return { kind: stored.kind };
      default:
        return stored satisfies never;
    }
  }

  /** Resolves when everything taken in is stored. */
  async drained(): Promise<void> {
    await Promise.all([this.#batches.small.drained(), this.#batches.large.drained()]);
  }

  #prepare(submission: Submission, partition: number): NewOperation | undefined {
    const { workspaceId, connectionId, capability, idempotencyKey, origin } = submission;
    const { db, fingerprint, ring } = this.#options;
    const secret = capabilityNamed(capability)?.sealed === true;
    if (!fingerprint || (secret && !ring.available)) return undefined;
    const id = newId(); // above all that this thread has made, whatever its clock does
    const input = canonicalize(submission.input) as string;
    const context = inputContext(id);
    const stored = db.vault.store(input, context);
    return {
      id,
      workspaceId,
      connectionId,
      partition,
      capability,
      idempotencyKey,
      keyHash: createHash('sha256').update(idempotencyKey).digest(),
      fingerprint: fingerprint(`${connectionId}\n${capability}\n${input}`),
      input: secret ? null : stored.plain,
      inputSealed: secret ? (stored.sealed ?? ring.seal(input, context)) : stored.sealed,
      acceptedAt: new Date(),
      origin,
    };
  }

  async #store(items: Prepared[]): Promise<Submitted[]> {
    const batch = new StoringBatch(items, this.#options.partition);
    try {
      const { operations, owned, open, attempts } = batch;
      const stored = await submitOperations(this.#options.db, operations, owned, open, attempts, this.#lastPlace);
      stored.forEach((one, i) => {
        const item = items[i] as Prepared;
        if (one.kind === 'created' && one.place > this.#lastPlace) this.#lastPlace = one.place;
        if (one.kind === 'created' && !batch.take(item, one)) this.#toOpen(item.operation); // I2
      });
      return stored;
    } catch (error) {
      if (outcomeUnknown(error)) batch.doubt(); // I3
      throw error;
    } finally {
      batch.end();
    }
  }

  /** Its mailbox is due, and is to be opened by its owner. */
  #toOpen({ connectionId, partition }: NewOperation): void {
    const owned = this.#options.partition(partition);
    if (owned) void owned.fetch();
    else this.#options.hint({ type: 'operations', connectionId });
  }
}
