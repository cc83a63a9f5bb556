import type { Command } from 'commander';
import { clearOwnLimit, listOwnLimits, setOwnLimit, type WorkspaceLimit } from '../../../storage/workspaces/limits.js';
import { Failure } from '../answer.js';
import { id, limitValue, workspaceLimit } from '../arguments.js';
import type { Perform } from '../session.js';

/** `limit list|set|clear`: what one workspace may have in place of what the settings say (HTTP-27). Every node goes by it within a second. */
export function limitCommands(program: Command, perform: Perform): void {
  const noun = program.command('limit').description('what one workspace may have, in place of the settings');
  noun
    .command('list')
    .option('--workspace <id>', 'of one alone', id)
    .action((options: { workspace?: string }) => {
      perform(async ({ db }) => ({ limits: await listOwnLimits(db, options.workspace ?? null) }), {
        action: 'command.read',
      });
    });
  noun
    .command('set')
    .requiredOption('--workspace <id>', 'whose limit it is', id)
    .requiredOption('--limit <name>', 'what is limited', workspaceLimit)
    .requiredOption('--value <number>', 'how many', limitValue)
    .action((options: { workspace: string; limit: WorkspaceLimit; value: number }) => {
      perform(
        async ({ db, record }) => {
          const { workspace, limit: name, value } = options;
          const limit = { workspace_id: workspace, name, value };
          await db.transaction(async (tx) => {
            if (!(await setOwnLimit(tx, limit))) throw new Failure(`there is no workspace ${workspace}`);
            await record(tx, [['workspace', workspace]], { workspaceId: workspace, details: { limit: name, value } });
          });
          return { ...limit };
        },
        { action: 'limit.set' },
      );
    });
  noun
    .command('clear')
    .requiredOption('--workspace <id>', 'whose limit it was', id)
    .requiredOption('--limit <name>', 'what the settings limit again', workspaceLimit)
    .action((options: { workspace: string; limit: WorkspaceLimit }) => {
      perform(
        async ({ db, record }) => {
          const { workspace, limit: name } = options;
          const limit = { workspace_id: workspace, name };
          await db.transaction(async (tx) => {
            if (!(await clearOwnLimit(tx, limit))) throw new Failure(`the workspace has no ${name} of its own`);
            await record(tx, [['workspace', workspace]], { workspaceId: workspace, details: { limit: name } });
          });
          return { ...limit, cleared: true };
        },
        { action: 'limit.clear' },
      );
    });
}
