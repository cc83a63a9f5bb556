import type { Command } from 'commander';
import { createWorkspace, listWorkspaces, type WorkspaceRow } from '../../../storage/workspaces/workspaces.js';
import { name } from '../arguments.js';
import type { Perform } from '../session.js';

/** `workspace create|list` */
export function workspaceCommands(program: Command, perform: Perform): void {
  const noun = program.command('workspace').description('tenants of the service');
  noun
    .command('create')
    .requiredOption('--name <name>', 'what people call it', name)
    .action((options: { name: string }) => {
      perform(
        ({ db, record }) =>
          db.transaction(async (tx) => {
            const made = await createWorkspace(tx, options.name);
            await record(tx, [['workspace', made.id]], { workspaceId: made.id });
            return shown(made);
          }),
        { action: 'workspace.create', database: 'made' },
      );
    });
  noun.command('list').action(() => {
    perform(async ({ db }) => ({ workspaces: (await listWorkspaces(db)).map(shown) }), { action: 'command.read' });
  });
}

const shown = (row: WorkspaceRow) => ({ workspace_id: row.id, name: row.name });
