import { setTimeout as delay } from 'node:timers/promises';
import { control } from '../../../kit/control.js';
import { signal } from '../../../kit/processes.js';
import type { FaultRecord } from '../evidence.js';
import type { Worked } from '../load/work.js';
import type { ChaosNode } from '../parts/node.js';
import type { ChaosReceiver } from '../parts/receiver.js';
import type { World } from '../parts/world.js';
import { type FaultKind, KINDS } from './kinds.js';
import type { PlannedFault } from './schedule.js';

/** What a fault does: begins it, and gives what undoes it; nothing when it found nothing to hit. */
type Begin = () => Promise<(() => Promise<void>) | undefined>;

const NOTHING_TO_UNDO = async () => {};

/**
 * Tries the planned faults at their times, each beside the others, and notes when each began and was undone.
 *
 * I1. What was begun is undone, also when the run is given up.
 */
export class Injector {
  readonly #world: World;
  readonly #social: readonly Worked[];
  readonly #abort: AbortSignal;
  readonly #say: (line: string) => void;
  readonly records: FaultRecord[] = [];
  /** Faults that found nothing to hit, such as the browser of a node without one. */
  missed = 0;

  constructor(world: World, social: readonly Worked[], abort: AbortSignal, say: (line: string) => void) {
    this.#world = world;
    this.#social = social;
    this.#abort = abort;
    this.#say = say;
  }

  /** Resolves when every fault was undone and every part is up again; once the run is given up, when all was undone. */
  async carryOut(planned: readonly PlannedFault[]): Promise<void> {
    const startedAt = performance.now();
    await Promise.all(
      planned.map(async (fault) => {
        const left_ms = fault.at_ms - (performance.now() - startedAt);
        await this.#wait(left_ms);
        if (!this.#abort.aborted) await this.#one(fault);
      }),
    );
    await Promise.all(this.#world.nodes.map((node) => this.#served(node)));
  }

  async #one(fault: PlannedFault): Promise<void> {
    const { kind, lasts_ms } = fault;
    const { target, begin } = this.#action(fault);
    const from = Date.now();
    try {
      const undo = await begin();
      if (!undo) {
        this.missed++;
        return;
      }
      const record: FaultRecord = { kind, target, from, to: from };
      this.records.push(record);
      await this.#wait(lasts_ms);
      await undo(); // I1
      record.to = Date.now();
    } catch (error) {
      this.#say(`${kind} of ${target} failed: ${String(error).split('\n', 1)[0]}`);
    }
  }

  /** For so long, or until the run is given up. */
  #wait(ms: number): Promise<void> {
    return delay(Math.max(0, ms), undefined, { signal: this.#abort }).catch(() => {});
  }

  async #startAgain(node: ChaosNode): Promise<void> {
    if (this.#abort.aborted) return;
    node.start();
    await this.#served(node);
  }

  async #served(node: ChaosNode): Promise<void> {
    if (this.#abort.aborted) return;
    const givenUp = Promise.withResolvers<void>();
    const giveUp = () => givenUp.resolve();
    this.#abort.addEventListener('abort', giveUp, { once: true });
    await Promise.race([node.serves(), givenUp.promise]);
    this.#abort.removeEventListener('abort', giveUp);
  }

  /** What a fault hits, as evidence names it, and how it begins. */
  #action({ kind, target, lasts_ms, dice }: PlannedFault): { target: string; begin: Begin } {
    const { nodes, receivers, database } = this.#world;
    const { hits } = KINDS[kind];
    switch (hits) {
      case 'node': {
        const node = nodes[target % nodes.length] as ChaosNode;
        return { target: `node ${node.number}`, begin: () => this.#hitNode(kind, node, lasts_ms, dice) };
      }
      case 'receiver': {
        const receiver = receivers[target % receivers.length] as ChaosReceiver;
        return { target: receiver.origin, begin: () => hitReceiver(kind, receiver) };
      }
      case 'account': {
        const account = this.#social[target % Math.max(1, this.#social.length)];
        return { target: account?.connection_id ?? 'nobody', begin: () => this.#hitAccount(kind, account) };
      }
      case 'database':
        return {
          target: 'database',
          begin: async () => {
            if (kind === 'database_killed') {
              await database.kill();
              return () => database.start();
            }
            await database.fill();
            return () => database.empty();
          },
        };
      default:
        return hits satisfies never;
    }
  }

  async #hitNode(kind: FaultKind, node: ChaosNode, lasts_ms: number, dice: number): ReturnType<Begin> {
    const { link } = node;
    const passAgain = async () => link.pass();
    switch (kind) {
      case 'node_killed':
        await node.kill();
        return () => this.#startAgain(node);
      case 'node_ended':
        if (!(await node.end())) this.#say(`node ${node.number} did not end and was killed`);
        return () => this.#startAgain(node);
      case 'node_paused_below_lease':
      case 'node_paused_beyond_lease':
        node.pause();
        return async () => node.goOn();
      case 'browser_killed':
      case 'browser_paused': {
        const pids = node.browsers();
        const [begin, end] =
          kind === 'browser_killed' ? (['SIGKILL', 'SIGCONT'] as const) : (['SIGSTOP', 'SIGCONT'] as const);
        const hit = pids.filter((pid) => signal(pid, begin));
        if (hit.length === 0) return undefined;
        return async () => {
          for (const pid of hit) signal(pid, end);
        };
      }
      case 'thread_crashed':
        await node.crashThread();
        return NOTHING_TO_UNDO;
      case 'thread_paused':
        await node.pauseThread(lasts_ms);
        return NOTHING_TO_UNDO;
      case 'clock_off':
        await node.setClock(
          Math.round((dice < 0.5 ? -1 : 1) * (120_000 + (dice * 2 - Math.floor(dice * 2)) * 120_000)),
        );
        return () => node.setClock(0);
      case 'link_cut':
        link.cut();
        return NOTHING_TO_UNDO;
      case 'link_stalled_up':
        link.stall('up');
        return passAgain;
      case 'link_stalled_down':
        link.stall('down');
        return passAgain;
      case 'link_stalled_both':
        link.stall('both');
        return passAgain;
      case 'link_deaf':
        link.deaf();
        return passAgain; // cuts what was open
      case 'backends_terminated':
        return this.#world.database.terminateBackends(node.role).then(
          (terminated) => (terminated > 0 ? NOTHING_TO_UNDO : undefined),
          () => undefined, // the database is down
        );
      default:
        throw new Error(`${kind} hits no node`);
    }
  }

  async #hitAccount(kind: FaultKind, account: Worked | undefined): ReturnType<Begin> {
    if (!account) return undefined;
    const { control_url } = this.#world.network.ready;
    const mode = kind.replace('network_', '');
    const delayed = mode === 'delay' && { ms: 3_000 };
    await control(control_url, 'POST', '/faults', { account: account.actor, mode, ...delayed });
    // One fault of the network is in force at a time: all that are cleared are this one.
    return async () => {
      await control(control_url, 'DELETE', '/faults');
    };
  }
}

async function hitReceiver(kind: FaultKind, receiver: ChaosReceiver): ReturnType<Begin> {
  if (kind === 'receiver_killed') {
    await receiver.kill();
    return () => receiver.start();
  }
  receiver.setMood(kind === 'receiver_late' ? 'late' : 'refusing');
  return async () => receiver.setMood('well');
}
