import type { Command } from 'commander';
import { createOperator, listOperators, revokeOperator } from '../../storage/workspaces/operators.js';
import { Failure } from './answer.js';
import { futureTime, id, name } from './arguments.js';
import type { Perform } from './session.js';

/** `operator create|list|revoke`: who signs in to the console for what spans workspaces. Only the command that makes a key shows it. */
export function operatorCommands(program: Command, perform: Perform): void {
  const noun = program.command('operator').description('people who run the installation, across its workspaces');
  noun
    .command('create')
    .requiredOption('--name <name>', 'what people call them', name)
    .option('--expires <time>', 'ISO 8601', futureTime)
    .action((options: { name: string; expires?: Date }) => {
      perform(
        async ({ db, record }) => {
          const { key, row } = await db.transaction(async (tx) => {
            const made = await createOperator(tx, options.name, options.expires ?? null);
            await record(tx, [['operator', made.row.id]]);
            return made;
          });
          return { operator_id: row.id, key, name: row.name, expires_at: row.expires_at };
        },
        { action: 'operator.create', database: 'made' },
      );
    });
  noun.command('list').action(() => {
    perform(
      async ({ db }) => {
        const rows = await listOperators(db);
        return { operators: rows.map(({ id, ...row }) => ({ operator_id: id, ...row })) };
      },
      { action: 'command.read' },
    );
  });
  noun
    .command('revoke')
    .requiredOption('--operator <id>', 'whose key and sessions end', id)
    .action((options: { operator: string }) => {
      perform(
        async ({ db, record }) => {
          const revoked = await db.transaction(async (tx) => {
            const ended = await revokeOperator(tx, options.operator);
            if (ended) await record(tx, [['operator', options.operator]]);
            return ended;
          });
          if (!revoked) throw new Failure(`there is no operator ${options.operator}`);
          return { operator_id: options.operator, revoked_at: revoked.revoked_at };
        },
        { action: 'operator.revoke' },
      );
    });
}
