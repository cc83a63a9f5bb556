import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { v7 as uuidv7 } from 'uuid';
import { partitionOf } from '../../storage/model/records.js';
import { type NewOperation, type Submitted, storedRow, submitOperations } from '../../storage/operations/submission.js';
import { Batcher, Full } from '../../storage/postgres/batcher.js';
import type { Database } from '../../storage/postgres/database.js';
import { causedByOne } from '../../storage/postgres/liveness.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { inputContext } from '../../storage/secrets/sealing.js';
import { capabilityNamed } from '../capabilities/catalogue.js';
import { LIMITS } from '../limits.js';
import type { Hint, Submission, SubmitOutcome } from '../system.js';
import type { Partition } from './partition.js';

/** What the committer needs from its thread. */
export interface CommitterOptions {
  db: Database;
  ring: KeyRing;
  fingerprint: (text: string) => Buffer;
  /** The partition when this thread owns it. */
  partition: (id: number) => Partition | undefined;
  /** Sends a hint to an owner elsewhere that jobs wait. */
  hint: (hint: Hint) => void;
}

/**
 * Stores the submissions of this thread's partitions in batches. Any node stores for any partition: when it is not the owner,
 * the owner gets a hint. Invariants: I1 an answer leaves only after the commit; I2 an operation is handed to its partition only
 * when its job was stored as taken under that partition's epoch.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #batcher: Batcher<NewOperation, Submitted>;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#batcher = new Batcher({
      maxItems: LIMITS.committer_batch_submissions,
      linger_ms: 0,
      concurrency: LIMITS.committer_statements,
      bound: LIMITS.committer_submissions,
      isolate: causedByOne,
      flush: (operations) => this.#store(operations),
    });
  }

  /** Stores one submission and gives what became of it. Rejects when the database fails: then nothing is promised. */
  async submit(submission: Submission): Promise<SubmitOutcome> {
    const partition = partitionOf(submission.connectionId);
    if (this.#options.partition(partition)?.full(submission.connectionId)) return { kind: 'overloaded' };
    const operation = this.#prepare(submission, partition);
    if (!operation) return { kind: 'encryption_key_unavailable' };
    let stored: Submitted;
    try {
      stored = await this.#batcher.add(operation); // I1
    } catch (error) {
      if (error instanceof Full) return { kind: 'overloaded' };
      throw error;
    }
    switch (stored.kind) {
      case 'created':
        this.#dispatch(operation, stored.handed);
        return { kind: 'created', operation: storedRow(operation) };
      case 'replayed':
        return { kind: 'replayed', operationId: stored.operationId };
      case 'conflict':
      case 'not_found':
        return { kind: stored.kind };
      default:
        return stored satisfies never;
    }
  }

  /** Resolves when everything taken in is stored. */
  drained(): Promise<void> {
    return this.#batcher.drained();
  }

  #prepare(submission: Submission, partition: number): NewOperation | undefined {
    const { workspaceId, connectionId, capability, idempotencyKey } = submission;
    const sealed = capabilityNamed(capability)?.sealed === true;
    if (sealed && !this.#options.ring.available) return undefined;
    const id = uuidv7();
    const input = canonicalize(submission.input) as string;
    return {
      id,
      workspaceId,
      connectionId,
      partition,
      capability,
      idempotencyKey,
      keyHash: createHash('sha256').update(idempotencyKey).digest(),
      fingerprint: this.#options.fingerprint(`${connectionId}\n${capability}\n${input}`),
      input: sealed ? null : input,
      inputSealed: sealed ? this.#options.ring.seal(input, inputContext(id)) : null,
      acceptedAt: new Date(),
    };
  }

  #store(operations: NewOperation[]): Promise<Submitted[]> {
    const direct = new Map<number, { id: number; epoch: number }>();
    for (const { partition } of operations) {
      const owned = this.#options.partition(partition);
      if (owned?.direct) direct.set(partition, { id: partition, epoch: owned.epoch });
    }
    return submitOperations(this.#options.db, operations, [...direct.values()]);
  }

  #dispatch(operation: NewOperation, handed: boolean): void {
    const owned = this.#options.partition(operation.partition);
    if (handed)
      owned?.hand(operation.connectionId, operation.id); // I2
    else if (owned) owned.queueGrew();
    else this.#options.hint({ type: 'operations', connectionId: operation.connectionId });
  }
}
