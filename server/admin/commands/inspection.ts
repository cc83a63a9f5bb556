import type { Command } from 'commander';
import { listPartitions, queueStats } from '../../../storage/partitions/inspection.js';
import { ageInWords } from '../duration-words.js';
import type { Perform } from '../session.js';

/** `partition list`, `queue stats` */
export function inspectionCommands(program: Command, perform: Perform): void {
  const partition = program.command('partition').description('who owns which share of the connections');
  partition.command('list').action(() => {
    perform(async ({ db }) => ({ partitions: await listPartitions(db) }), { action: 'command.read' });
  });
  const queue = program.command('queue').description('durable jobs');
  queue.command('stats').action(() => {
    perform(
      async ({ db }) => ({
        queues: (await queueStats(db)).map((row) => ({ ...row, oldest_ready: ageInWords(row.oldest_ready_at) })),
      }),
      { action: 'command.read' },
    );
  });
}
