import type { Command } from 'commander';
import {
  createOperator,
  listOperators,
  type NewOperator,
  revokeOperator,
  rotateOperator,
} from '../../../storage/workspaces/operators.js';
import { Failure } from '../answer.js';
import { id, name } from '../arguments.js';
import type { Perform } from '../session.js';
import { bounded, overlapping } from './keys.js';

/** `operator create|list|rotate|revoke`: who signs in to the console for what spans workspaces. Only the command that makes a key shows it. */
export function operatorCommands(program: Command, perform: Perform): void {
  const noun = program.command('operator').description('people who run the installation, across its workspaces');
  bounded(noun.command('create'))
    .requiredOption('--name <name>', 'what people call them', name)
    .action((options: { name: string; expires?: Date; networks?: string[] }) => {
      perform(
        async ({ db, record }) => {
          const made = await db.transaction(async (tx) => {
            const { expires = null, networks = null } = options;
            const created = await createOperator(tx, options.name, expires, networks);
            await record(tx, [['operator', created.row.id]]);
            return created;
          });
          return shownOnce(made);
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
  overlapping(noun.command('rotate'))
    .requiredOption('--operator <id>', 'whose key is replaced', id)
    .action((options: { operator: string; overlap: number }) => {
      perform(
        async ({ db, record }) => {
          const rotated = await db.transaction(async (tx) => {
            const made = await rotateOperator(tx, options.operator, options.overlap);
            if (!made) throw new Failure(`there is no usable operator ${options.operator}`);
            await record(tx, [
              ['operator', options.operator],
              ['operator', made.row.id],
            ]);
            return made;
          });
          const previous = { previous_operator_id: options.operator, previous_valid_until: rotated.previousValidUntil };
          return { ...shownOnce(rotated), ...previous };
        },
        { action: 'operator.rotate' },
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

const shownOnce = ({ key, row }: NewOperator) => ({
  operator_id: row.id,
  key,
  name: row.name,
  networks: row.networks,
  expires_at: row.expires_at,
});
