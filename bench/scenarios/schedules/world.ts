import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Hint } from '../../../actors/system.js';
import { newId } from '../../../storage/model/new-id.js';
import { isTerminal } from '../../../storage/model/transitions.js';
import { cancelOperation } from '../../../storage/operations/operations.js';
import { submitOperations } from '../../../storage/operations/submission.js';
import type { OwnedPartition } from '../../../storage/partitions/partitions.js';
import type { Database } from '../../../storage/postgres/database.js';
import { keyRing } from '../../../storage/secrets/encryption.js';
import type { Command } from './commands.js';
import type { Faults } from './faults.js';
import type { Gates } from './gates.js';
import { judge } from './judge.js';
import { type Entry, Ledger, type Work } from './ledger.js';
import { ScheduledNode } from './node.js';
import { type Ground, orphans, whatIsLeft } from './rows.js';
import { RowsAtWork } from './rows-at-work.js';
import type { Stage } from './stage.js';

const RING = keyRing([{ id: 'schedules', key: randomBytes(32) }]);
const CAPABILITIES: Record<Work, string> = {
  read: 'social.identity.get',
  file: 'social.identity.get',
  write: 'social.invitation.send',
  future: 'social.future.thing',
};

export interface WorldOptions {
  stage: Stage;
  faults: Faults;
  gates: Gates;
  ground: Ground;
  /** The id of the first node, and what it owns. */
  first: string;
  owned: OwnedPartition[];
  /** The tester's own. */
  db: Database;
  /** Of the nodes, one each. */
  pools: [Database, Database];
}

/** What a schedule is played with: two nodes, and all that clients, operators and luck do to them. */
export class World {
  readonly ledger = new Ledger();
  readonly #options: WorldOptions;
  readonly #nodes: [ScheduledNode, ScheduledNode];
  readonly #lives = [0, 0];
  readonly #rows: RowsAtWork;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#rows = new RowsAtWork(options.db, options.stage, this.ledger);
    this.#nodes = [this.#start(0, options.first), this.#start(1)];
    for (const one of options.owned) this.#nodes[0].own(one);
  }

  #start(which: 0 | 1, id = randomUUID() as string): ScheduledNode {
    const { stage, faults, gates, pools } = this.#options;
    const life = ++this.#lives[which]!;
    const name = `${'AB'[which]}${life > 1 ? life : ''}`;
    const hint = (one: Hint) => this.#hint(one);
    return new ScheduledNode({
      id,
      name,
      own: pools[which],
      stage,
      faults,
      gates,
      ledger: this.ledger,
      ring: RING,
      hint,
    });
  }

  /** Begins to do it. What it leads to are steps of its own. */
  do(command: Command): void {
    void this.#play(command).catch((error) => {
      this.#options.stage.note(`${command.do} failed: ${(error as Error).message}`);
    });
  }

  async #play(command: Command): Promise<void> {
    switch (command.do) {
      case 'submit': {
        const { id } = this.#connection(command.connection);
        return this.#submit(this.ledger.ask(id, command.work), command.at as 0 | 1);
      }
      case 'cancel':
        return this.#cancel([...this.ledger.entries.values()][command.operation]);
      case 'change':
      case 'disconnect':
        return this.#rows.change(this.#connection(command.connection), command.do);
      case 'lock':
        return this.#rows.lock(this.#connection(command.connection));
      case 'close':
      case 'sweep':
      case 'poll':
        return this.#owner(this.#partition(command.partition))?.[command.do]();
      case 'renew':
        return this.#node(command.node).renew();
      case 'kill': {
        const which = command.node as 0 | 1;
        this.#nodes[which].kill();
        this.#nodes[which] = this.#start(which);
        return;
      }
      case 'claim':
        return this.#node(command.node).claim(this.#partition(command.partition));
      case 'claim_all':
        return this.#node(command.node).claim(...this.#options.ground.partitions);
      case 'release': {
        const id = this.#partition(command.partition);
        return this.#owner(id)?.release(id);
      }
      case 'lapse':
        return this.#lapse(this.#partition(command.partition));
      case 'lose_start':
        return this.#rows.loseStart(this.#connection(command.connection).id, 'not past_boundary');
      case 'lose_commits':
        return this.#rows.loseStart(this.#connection(command.connection).id, 'past_boundary');
      case 'store_future':
        return this.#storeFuture(this.#connection(command.connection));
      default:
        command satisfies never;
    }
  }

  #node(which: number): ScheduledNode {
    return this.#nodes[which as 0 | 1];
  }

  #connection(which: number): Ground['connections'][number] {
    const { connections } = this.#options.ground;
    return connections[which % connections.length] as Ground['connections'][number];
  }

  #partition(which: number): number {
    const { partitions } = this.#options.ground;
    return partitions[which % partitions.length] as number;
  }

  #owner(partition: number): ScheduledNode | undefined {
    return this.#nodes.find((node) => node.owns(partition));
  }

  async #hint(hint: Hint): Promise<void> {
    const { stage, faults } = this.#options;
    const lost = faults.of('hint') !== undefined;
    await stage.step(`a hint of ${hint.type} ${lost ? 'is lost' : 'arrives'}`);
    if (!lost) for (const node of this.#nodes) node.hear(hint);
  }

  /** As a node of the version after does, which owns nothing. */
  async #storeFuture({ id: connectionId, partition }: { id: string; partition: number }): Promise<void> {
    const { db, ground, stage } = this.#options;
    const entry = this.ledger.ask(connectionId, 'future');
    const hash = createHash('sha256').update(entry.name).digest();
    const of = { workspaceId: ground.workspaceId, connectionId, partition, capability: CAPABILITIES.future };
    const key = { idempotencyKey: entry.name, keyHash: hash, fingerprint: hash };
    const given = { id: newId(), input: '{}', inputSealed: null, acceptedAt: new Date() };
    const [stored] = await stage.sent(submitOperations(db, [{ ...of, ...key, ...given }], []));
    if (stored?.kind !== 'created') return this.ledger.forget(entry);
    this.ledger.accept(entry, given.id);
    await this.#hint({ type: 'operations', connectionId });
  }

  /** As a client does: again and again until it is answered. */
  async #submit(entry: Entry, at: 0 | 1): Promise<void> {
    const { stage, ground } = this.#options;
    const { name, connectionId, work } = entry;
    const capability = CAPABILITIES[work];
    const input = { name, work };
    for (;;) {
      const { committer } = this.#node(at);
      const submission = { workspaceId: ground.workspaceId, connectionId, capability, input, idempotencyKey: name };
      const outcome = await committer.submit(submission).catch((error: Error) => error);
      if (outcome instanceof Error) {
        stage.note(`${name} is not answered: ${outcome.message}`);
      } else if (outcome.kind === 'created' || outcome.kind === 'replayed') {
        const id = outcome.kind === 'created' ? outcome.operation.id : outcome.operationId;
        this.ledger.accept(entry, id);
        stage.note(`${name} is accepted (${outcome.kind})`);
        return;
      } else if (outcome.kind !== 'overloaded') throw new Error(`${name}: ${outcome.kind}`);
      await stage.step(`the client sends ${name} again`);
    }
  }

  /** As the route does. */
  async #cancel(entry: Entry | undefined): Promise<void> {
    const { db, stage } = this.#options;
    const { operationId, connectionId, name } = entry ?? {};
    if (!entry || !operationId || !connectionId) return;
    const canceled = await stage.sent(db.transaction((tx) => cancelOperation(tx, operationId)));
    if (canceled === 'requested') await this.#hint({ type: 'cancel', connectionId, operationId });
    if (typeof canceled !== 'object') return;
    stage.note(`${name} is canceled`);
    this.ledger.cancel(entry);
  }

  /** The lease of a partition runs out, for its node and in its row. */
  async #lapse(id: number): Promise<void> {
    const { db, stage } = this.#options;
    this.#owner(id)?.lapse(id);
    await stage.sent(db.query('lapse', `update partition set lease_until = '-infinity' where id = $1`, [id]));
  }

  /** Looks for operations that nobody can find any more. */
  async probe(): Promise<void> {
    const { db, ground } = this.#options;
    const ids = ground.connections.map(({ id }) => id);
    for (const { key, status } of await orphans(db, ids)) this.ledger.breach(`${key} is ${status} and in no mailbox`);
  }

  /** One round of everything that happens by itself. True when nothing is left to do. */
  async round(): Promise<boolean> {
    const { db, ground, stage } = this.#options;
    for (const id of ground.partitions) {
      if (this.#owner(id)) continue;
      await this.#lapse(id);
      this.#begin(this.#nodes[0].claim(id));
    }
    for (const node of this.#nodes) this.#begin(node.renew());
    await stage.rest();
    for (const node of this.#nodes) for (const poll of [node.poll(), node.sweep()]) this.#begin(poll);
    await stage.rest();
    for (const node of this.#nodes) this.#begin(node.close());
    await stage.rest();
    const { operations, jobs } = await whatIsLeft(db, ground);
    return stage.pending === 0 && jobs.length === 0 && operations.every(({ status }) => isTerminal(status));
  }

  #begin(work: Promise<void>): void {
    work.catch((error: Error) => this.#options.stage.note(error.message));
  }

  /** What the schedule broke. */
  async judge(): Promise<string[]> {
    const left = await whatIsLeft(this.#options.db, this.#options.ground);
    const inHand = this.#nodes.flatMap((node) => node.inHand);
    const orphans = this.#nodes.reduce((sum, node) => sum + node.orphans, 0);
    return judge({ ledger: this.ledger, ...left, inHand, orphans });
  }

  /** Ends both nodes. */
  end(): void {
    for (const node of this.#nodes) node.kill();
  }
}
