import { newId } from '../../../storage/model/new-id.js';
import {
  type FirstAttempt,
  isLarge,
  type NewOperation,
  type Submitted,
  startedRow,
} from '../../../storage/operations/submission.js';
import { capabilityNamed } from '../../capabilities/catalogue.js';
import type { Partition } from './partition.js';

/** A submission on its way to its row. */
export interface Prepared {
  operation: NewOperation;
  /** As it was sent, for an attempt that starts with its acceptance. */
  input: Record<string, unknown>;
}

/** A partition as this thread owned it when the batch was made. */
interface Owner {
  id: number;
  epoch: number;
  partition: Partition;
}

/**
 * What this thread holds for a batch of operations while it is being stored: the partitions that it owns of them, the mailboxes that it has
 * open, and the actors with nothing in hand, which it reserves so that an operation of theirs starts with its acceptance.
 *
 * Invariants: I1 what was stored for an open mailbox, or as running, is taken under the epoch that it was stored under, or by nobody here;
 * I2 an actor that was reserved begins its operation, or is released by `end`, whatever becomes of the batch.
 */
export class StoringBatch {
  readonly #items: readonly Prepared[];
  readonly #owners = new Map<number, Owner>();
  readonly #open = new Set<string>();
  readonly #attempts = new Map<string, FirstAttempt>();

  constructor(items: readonly Prepared[], partitionOf: (id: number) => Partition | undefined) {
    this.#items = items;
    const started_at = new Date().toISOString();
    for (const { operation } of items) {
      const { id, connectionId, capability, partition: of } = operation;
      const partition = partitionOf(of);
      if (!partition?.direct) continue;
      if (!this.#owners.has(of)) this.#owners.set(of, { id: of, epoch: partition.epoch, partition });
      if (partition.storing(connectionId)) this.#open.add(connectionId);
      if (isLarge(operation) || !partition.reserve(connectionId)) continue;
      const phase = capabilityNamed(capability)?.kind === 'write' ? 'preparing' : 'reading'; // OPS-11
      this.#attempts.set(id, { id: newId(), phase, started_at });
    }
  }

  get operations(): NewOperation[] {
    return this.#items.map(({ operation }) => operation);
  }

  get owned(): Owner[] {
    return [...this.#owners.values()];
  }

  get open(): string[] {
    return [...this.#open];
  }

  get attempts(): ReadonlyMap<string, FirstAttempt> {
    return this.#attempts;
  }

  /** Takes what was stored here. False when its mailbox is due: somebody is to open it. */
  take({ operation, input }: Prepared, stored: Extract<Submitted, { kind: 'created' }>): boolean {
    const { id, connectionId, workspaceId, partition: of } = operation;
    const { handed, place, running } = stored;
    const version = this.#open.has(connectionId) ? undefined : stored.version;
    const owner = this.#owners.get(of);
    if (!owner) return false;
    const { partition, epoch } = owner;
    const attempt = this.#attempts.get(id);
    if (running && attempt) {
      this.#attempts.delete(id); // I2
      const held = { id, partition: of, epoch, attemptId: attempt.id };
      const started = startedRow(operation, { input, place, connection: running, attempt, epoch });
      partition.begin({ held, started }, epoch, handed, version); // I1
    } else if (handed)
      partition.hand({ id, connectionId, workspaceId, place, large: isLarge(operation) }, epoch, version); // I1
    return handed;
  }

  /** It is not known what was stored: some of it may be, for mailboxes that are open. */
  doubt(): void {
    for (const { partition } of this.#owners.values()) partition.doubt();
  }

  /** The batch is over. */
  end(): void {
    for (const { operation } of this.#items) {
      const partition = this.#owners.get(operation.partition)?.partition;
      if (this.#attempts.has(operation.id)) partition?.release(operation.connectionId); // I2
      partition?.stored(operation.connectionId);
    }
  }
}
