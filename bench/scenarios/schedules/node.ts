import { createHash } from 'node:crypto';
import { LeaseCell } from '../../../actors/lease.js';
import { LIMITS as ACTOR_LIMITS } from '../../../actors/limits.js';
import { PartitionClaims } from '../../../actors/node/partition-claims.js';
import { OperationBatches } from '../../../actors/operations/attempt/operation-batches.js';
import { MailboxReader } from '../../../actors/operations/mailbox-reader.js';
import { OperationCounters } from '../../../actors/operations/operation-counters.js';
import { Orphans } from '../../../actors/operations/orphans.js';
import { Committer } from '../../../actors/operations/partition/committer.js';
import { MailboxCloser } from '../../../actors/operations/partition/mailbox-closer.js';
import { Partition, type PartitionContext } from '../../../actors/operations/partition/partition.js';
import { PendingStores } from '../../../actors/operations/partition/pending-stores.js';
import { Sweep } from '../../../actors/operations/partition/sweep.js';
import { retrying } from '../../../actors/retry.js';
import type { Hint } from '../../../actors/system.js';
import { dueQueues } from '../../../storage/jobs/job-table.js';
import { createLogger, type Logger } from '../../../storage/log/log.js';
import { partitionOf } from '../../../storage/model/records.js';
import { cancelsRequested } from '../../../storage/operations/owner-polls.js';
import { type OwnedPartition, releasePartitions, renewLeases } from '../../../storage/partitions/partitions.js';
import type { Database } from '../../../storage/postgres/database.js';
import { FairSlots } from '../../../storage/process/fair-slots.js';
import type { KeyRing } from '../../../storage/secrets/encryption.js';
import { steppedDatabase, TooHeavy } from './database.js';
import type { Faults } from './faults.js';
import type { Gates } from './gates.js';
import type { Ledger } from './ledger.js';
import { LIMITS } from './limits.js';
import { steppedProvider } from './provider.js';
import type { Stage } from './stage.js';

export interface NodeOptions {
  id: string;
  /** In the words of a step. */
  name: string;
  own: Database;
  stage: Stage;
  faults: Faults;
  gates: Gates;
  ledger: Ledger;
  ring: KeyRing;
  /** Sends a hint to the node that owns the partition, if another one does. */
  hint(hint: Hint): void;
}

const SILENT = createLogger({ level: 'silent', format: 'json' }, {});

/** Says nothing, but tells `refused` of each end that was refused for another one's sake. */
function loggerOf(refused: (operationId: string) => void): Logger {
  const error = (what: { err?: unknown; operation_id?: string }) => {
    if (what.err instanceof TooHeavy && what.operation_id) refused(what.operation_id);
  };
  return Object.assign(Object.create(SILENT), { error }) as Logger;
}

/**
 * One node of a schedule, from its start to its death: the parts of an actor thread as `actors/thread/host-parts.ts` puts them together, and the
 * hand-overs of `actors/node/ownership.ts`, partition by partition, without its clocks.
 */
export class ScheduledNode {
  readonly id: string;
  readonly name: string;
  readonly lease = new LeaseCell();
  readonly committer: Committer;
  readonly #db: Database;
  readonly #stage: Stage;
  readonly #context: PartitionContext;
  readonly #takings: PartitionClaims;
  readonly #owned = new Map<number, Partition>();
  readonly #closing: MailboxCloser;
  readonly #sweep: Sweep;
  #alive = true;

  constructor({ id, name, own, stage, faults, gates, ledger, ring, hint }: NodeOptions) {
    this.id = id;
    this.name = name;
    const db = steppedDatabase({ own, stage, faults, gates, node: name, alive: () => this.#alive });
    this.#db = db;
    this.#stage = stage;
    this.#takings = new PartitionClaims(db, this.id);
    const { lease } = this;
    const log = loggerOf(() => ledger.breach('an end was refused for that of a neighbour'));
    const provider = steppedProvider(name, { stage, ledger, lease });
    const pendingStores = new PendingStores();
    this.#context = {
      ...{ db, ring, lease, log, pendingStores },
      batches: new OperationBatches(db, db, { node_id: this.id, thread: 'actors-0' }, () => {}),
      reader: new MailboxReader(db),
      ended: () => {},
      providers: { simulated: provider, social: provider },
      counters: new OperationCounters(),
      largeAttempts: new FairSlots(ACTOR_LIMITS.large_attempts, { each: ACTOR_LIMITS.workspace_large_attempts }),
      storedBound: null,
      awaitable: () => {},
      changed: () => {},
      looked: () => {},
      reconcile: (partition, inHand) => void this.#retake(partition, inHand),
    };
    const partitions = () => [...this.#owned.values()];
    this.#closing = new MailboxCloser({ db, log, partitions });
    const { counters } = this.#context;
    const orphans = new Orphans({ db, log, counters, looks: () => false });
    this.#sweep = new Sweep({ db, log, counters, orphans, partitions });
    this.committer = new Committer({
      ...{ db, ring, pendingStores, hint },
      fingerprint: (text) => createHash('sha256').update(text).digest(),
      partition: (id) => this.#owned.get(id),
    });
  }

  get owned(): number[] {
    return [...this.#owned.keys()];
  }

  owns(partition: number): boolean {
    return this.#owned.has(partition);
  }

  /** Where rows and memory did not agree about an operation. */
  get orphans(): number {
    return Object.values(this.#context.counters.counted().orphans).reduce((sum, count) => sum + count, 0);
  }

  /** The operations that it has in hand. */
  get inHand(): string[] {
    return [...this.#owned.values()].flatMap((partition) => partition.inHand);
  }

  /** Takes those of these partitions that are free, in one transaction. Rejects when the database does not answer. */
  async claim(...ids: number[]): Promise<void> {
    const wanted = ids.filter((id) => !this.#owned.has(id));
    if (!this.#alive || wanted.length === 0) return;
    for (const taken of (await this.#takings.claim(wanted)).partitions) {
      if (!this.#alive || this.#owned.has(taken.id)) continue;
      this.own(taken);
      void this.#owned.get(taken.id)?.fetch();
    }
  }

  /** It was taken for this node. */
  own(taken: OwnedPartition): void {
    this.#trust(taken.id);
    this.#owned.set(taken.id, new Partition(taken, this.#context));
  }

  #trust(id: number): void {
    this.lease.renewed(LeaseCell.now(), LIMITS.lease_ms, [id]);
  }

  /** From now on it may not rely on its lease of the partition. */
  lapse(id: number): void {
    this.lease.renewed(LeaseCell.now(), -1, [id]);
  }

  /** As `Ownership.reconcile`. */
  async #retake({ id, epoch }: OwnedPartition, inHand: string[]): Promise<void> {
    const partition = this.#owned.get(id);
    const held = () => this.#alive && this.#owned.get(id) === partition && partition?.epoch === epoch;
    const again = async () => {
      if (!held()) return;
      const [taken] = (await this.#takings.retake(id, inHand)).partitions;
      if (!held()) return;
      if (!taken) return this.#lose(id);
      this.#trust(id);
      partition?.renewed(taken.epoch);
    };
    await retrying(again, (error) => {
      if (!held()) throw error;
    }).catch(() => {});
  }

  /** Renews its leases, and loses what is another node's by now. */
  async renew(): Promise<void> {
    if (this.#owned.size === 0) return;
    const asked = [...this.#owned.values()].map(({ id, epoch }) => ({ id, epoch }));
    for (const { id, epoch, standing } of await renewLeases(this.#db, this.id, LIMITS.lease_ms, asked, false)) {
      const partition = this.#owned.get(id);
      if (partition?.epoch !== epoch) continue;
      if (standing === 'renewed') this.#trust(id);
      if (standing === 'lost' && partition.comparable) this.#lose(id);
    }
  }

  #lose(id: number): void {
    this.#owned.get(id)?.drop();
    this.#owned.delete(id);
  }

  /** Gives a partition up as soon as what is past its write boundary has ended, or the time for it is over. */
  async release(id: number): Promise<void> {
    const partition = this.#owned.get(id);
    if (!partition) return;
    const timeIsUp = this.#stage.step(`${this.name} has waited long enough to hand over`, LIMITS.drain_steps);
    await Promise.race([partition.quiesce(), timeIsUp]);
    if (this.#owned.get(id) !== partition) return;
    this.#lose(id);
    await releasePartitions(this.#db, this.id, [{ id, epoch: partition.epoch }]);
  }

  /** It is killed. */
  kill(): void {
    this.#alive = false;
    for (const id of this.owned) this.#lose(id);
  }

  hear(hint: Hint): void {
    const partition = this.#owned.get(partitionOf(hint.connectionId));
    if (hint.type === 'operations') void partition?.fetch();
    if (hint.type === 'cancel') partition?.actor(hint.connectionId)?.cancel(hint.operationId);
  }

  close(): Promise<void> {
    return this.#closing.close();
  }

  sweep(): Promise<void> {
    return this.#sweep.look();
  }

  /** What the slow poll does for mailboxes and cancels (`PartitionOwner.poll`). */
  async poll(): Promise<void> {
    if (this.#owned.size === 0) return;
    for (const { queue, partition } of await dueQueues(this.#db, this.owned)) {
      if (queue === 'mailbox') void this.#owned.get(partition)?.fetch();
    }
    const actors = [...this.#owned.values()].flatMap((partition) => [...partition.actors()]);
    const attempting = new Map(
      actors.flatMap((actor) => (actor.attempting ? [[actor.attempting, actor] as const] : [])),
    );
    if (attempting.size === 0) return;
    for (const id of await cancelsRequested(this.#db, [...attempting.keys()])) attempting.get(id)?.cancel(id);
  }
}
