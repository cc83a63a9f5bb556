import type { Logger } from '../../storage/log/log.js';
import { PARTITIONS } from '../../storage/model/records.js';
import { freePartitions, liveNodes, releasePartitions, strayPartitions } from '../../storage/partitions/partitions.js';
import { quietPartitions } from '../../storage/partitions/quiet.js';
import type { Database } from '../../storage/postgres/database.js';
import { isUnreachable } from '../../storage/postgres/liveness.js';
import { LIMITS } from '../limits.js';
import type { Holding, OwnedLeases } from './owned-leases.js';

export interface LevellingOptions {
  db: Database;
  nodeId: string;
  log: Logger;
  held: OwnedLeases;
  /** Partitions whose release is being stored. */
  releasing: ReadonlySet<number>;
  /** Takes a partition, or several quiet ones, and begins to run them. Gives how many: another node may have been sooner. */
  claim(partitions: number[]): Promise<number>;
  /** Gives a partition up. Never rejects. */
  release(holding: Holding): Promise<void>;
  runnable(partition: number): boolean;
  /** True when the node takes no more. */
  over(): boolean;
}

/**
 * One round of a node's part in sharing the partitions: gives up what it cannot run, claims what it lacks of its share, lets
 * go of rows that name it although it does not know of them, and gives up what is beyond its share. Such a stray row is claimed
 * like a free one where it is wanted. Rejects when the database does not answer.
 */
export async function levelPartitions(options: LevellingOptions): Promise<void> {
  const { db, nodeId, held, releasing, runnable } = options;
  const nodes = Math.max(1, await liveNodes(db, LIMITS.lease_ms));
  const strays = await strayPartitions(db, nodeId, [...held.ids, ...releasing]);
  const free = await freePartitions(db);
  if (options.over()) return;
  const share = Math.ceil(PARTITIONS / nodes);
  const stranded = staying(held).filter(({ id }) => !runnable(id));
  giveUp(options, stranded, 'partitions given up: their thread is gone');
  const claimable = [...new Set([...strays.map(({ id }) => id), ...free])];
  await claimShare(options, claimable.filter(runnable), share);
  const left = strays.filter(({ id }) => !held.get(id));
  if (left.length > 0) await releasePartitions(db, nodeId, left);
  giveUp(options, staying(held).slice(share), 'partitions given up: they are beyond the share of this node');
}

const staying = (held: OwnedLeases): Holding[] => held.all.filter(({ release }) => release === undefined);

function giveUp({ log, release }: LevellingOptions, holdings: Holding[], why: string): void {
  if (holdings.length > 0) log.info({ partitions: holdings.map(({ id }) => id) }, why);
  for (const holding of holdings) void release(holding);
}

/**
 * Claims of these what the node lacks of its share: the quiet ones together, as those of a node that was stopped are, the others a few at a
 * time. A partition that cannot be claimed now (its rows are locked) is left to the next round.
 */
async function claimShare(options: LevellingOptions, partitions: number[], share: number): Promise<void> {
  const { held, log } = options;
  const counts = { underWay: 0, claimed: await claimQuiet(options, partitions, share) };
  const next = partitions.filter((id) => !held.get(id)).values();
  const claims = async () => {
    while (held.size + counts.underWay < share && !options.over()) {
      const { value: partition, done } = next.next();
      if (done) return;
      counts.underWay++;
      try {
        counts.claimed += await options.claim([partition]);
      } catch (error) {
        if (isUnreachable(error)) throw error;
        log.warn({ err: error, partition }, 'ownership: a partition could not be claimed, trying again');
      } finally {
        counts.underWay--;
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: LIMITS.taking_transactions }, claims));
  } finally {
    if (counts.claimed > 0) log.info({ partitions: counts.claimed }, 'ownership: partitions taken');
  }
}

/** Claims those of them in one transaction that are quiet. Gives how many it got; after a failure each is left to be claimed by itself. */
async function claimQuiet(options: LevellingOptions, partitions: number[], share: number): Promise<number> {
  const { db, held, log } = options;
  const lacking = share - held.size;
  if (lacking < 2 || partitions.length < 2) return 0;
  try {
    const quiet = (await quietPartitions(db, partitions)).slice(0, lacking);
    return quiet.length < 2 || options.over() ? 0 : await options.claim(quiet);
  } catch (error) {
    if (isUnreachable(error)) throw error;
    log.warn({ err: error }, 'ownership: quiet partitions could not be claimed together, claiming each by itself');
    return 0;
  }
}
