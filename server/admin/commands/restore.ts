import type { Command } from 'commander';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { LIMITS as NODE_LIMITS } from '../../../actors/limits.js';
import { liveNodes } from '../../../storage/partitions/partitions.js';
import { settleRestored } from '../../../storage/partitions/restored.js';
import { Failure } from '../answer.js';
import type { Perform } from '../session.js';

const WRITES = capabilities.filter(({ kind }) => kind === 'write').map(({ name }) => name);

/** `restore settle`: what a restored database would have sent a second time ends `outcome_unknown` (CLI-7). */
export function restoreCommands(program: Command, perform: Perform): void {
  const noun = program.command('restore').description('a database that was restored from a backup');
  noun
    .command('settle')
    .description('end the writes that the backup holds as queued or running, before a node starts')
    .action(() => {
      perform(
        async ({ db, record }) => {
          const nodes = await liveNodes(db, NODE_LIMITS.lease_ms);
          if (nodes > 0) {
            throw new Failure(
              `${nodes} of the database's nodes had a heartbeat within the last ${NODE_LIMITS.lease_ms / 1000} s: stop them, or wait`,
            );
          }
          await db.transaction((tx) => record(tx, [])); // before the first of many statements
          return { outcome_unknown: await settleRestored(db, WRITES) };
        },
        { action: 'restore.settle' },
      );
    });
}
