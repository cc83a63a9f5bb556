import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import { v7 as uuidv7 } from 'uuid';
import { partitionOf } from '../../storage/model/records.js';
import { type NewOperation, type Submitted, storedRow, submitOperations } from '../../storage/operations/submission.js';
import { Batcher, Full } from '../../storage/postgres/batcher.js';
import type { Database } from '../../storage/postgres/database.js';
import { causedByOne, outcomeUnknown } from '../../storage/postgres/liveness.js';
import type { KeyRing } from '../../storage/secrets/encryption.js';
import { inputContext } from '../../storage/secrets/sealing.js';
import { capabilityNamed } from '../capabilities/catalogue.js';
import { LIMITS } from '../limits.js';
import { retryWaits } from '../retry.js';
import type { Hint, Submission, SubmitOutcome } from '../system.js';
import type { Partition } from './partition.js';

/** What the committer needs from its thread. */
export interface CommitterOptions {
  db: Database;
  ring: KeyRing;
  /** Null: the installation's secret is sealed under a key that this node lacks, so a repeat could not be told from a new one. */
  fingerprint: ((text: string) => Buffer) | null;
  /** The partition when this thread owns it. */
  partition: (id: number) => Partition | undefined;
  /** Sends a hint to an owner elsewhere that jobs wait. */
  hint: (hint: Hint) => void;
}

/**
 * Stores the submissions of this thread's partitions in batches. Any node stores for any partition: when it is not the owner,
 * the owner gets a hint. Invariants: I1 an answer leaves only after the commit; I2 an operation is handed to its partition only
 * when its job was stored as taken under that partition's epoch; I3 when it is not known whether a batch was stored, the partitions
 * that it would have been handed to are taken again before anything else is handed to them.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #batcher: Batcher<NewOperation, Stored>;

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
    let stored: Stored;
    try {
      stored = await this.#batcher.add(operation); // I1
    } catch (error) {
      if (error instanceof Full) return { kind: 'overloaded', what: 'node' };
      throw error;
    }
    switch (stored.kind) {
      case 'created':
        this.#dispatch(operation, stored);
        return { kind: 'created', operation: storedRow(operation) };
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
  drained(): Promise<void> {
    return this.#batcher.drained();
  }

  #prepare(submission: Submission, partition: number): NewOperation | undefined {
    const { workspaceId, connectionId, capability, idempotencyKey } = submission;
    const { fingerprint, ring } = this.#options;
    const sealed = capabilityNamed(capability)?.sealed === true;
    if (!fingerprint || (sealed && !ring.available)) return undefined;
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
      fingerprint: fingerprint(`${connectionId}\n${capability}\n${input}`),
      input: sealed ? null : input,
      inputSealed: sealed ? ring.seal(input, inputContext(id)) : null,
      acceptedAt: new Date(),
    };
  }

  async #store(operations: NewOperation[]): Promise<Stored[]> {
    const direct = new Map<number, { id: number; epoch: number }>();
    for (const { partition } of operations) {
      const owned = this.#options.partition(partition);
      if (owned?.direct) direct.set(partition, { id: partition, epoch: owned.epoch });
    }
    try {
      const stored = await submitOperations(this.#options.db, operations, [...direct.values()]);
      return stored.map((one, i) => {
        if (one.kind !== 'created') return one;
        const epoch = direct.get((operations[i] as NewOperation).partition)?.epoch;
        return { kind: 'created', epoch: one.handed ? epoch : undefined, place: one.place };
      });
    } catch (error) {
      // Some may be stored, with their jobs taken (I3).
      if (outcomeUnknown(error)) for (const id of direct.keys()) this.#options.partition(id)?.doubt();
      throw error;
    }
  }

  #dispatch(
    { id, workspaceId, connectionId, partition }: NewOperation,
    { epoch, place }: { epoch: number | undefined; place: number },
  ): void {
    const owned = this.#options.partition(partition);
    if (epoch !== undefined)
      owned?.hand({ id, connection_id: connectionId, workspace_id: workspaceId, place }, epoch); // I2
    else if (owned) owned.queueGrew();
    else this.#options.hint({ type: 'operations', connectionId });
  }
}

/** As it was stored; `epoch`: the one under which its job was stored as taken, if it was. */
type Stored = Exclude<Submitted, { kind: 'created' }> | { kind: 'created'; epoch: number | undefined; place: number };
