import type { Command } from 'commander';
import { viewOperation } from '../../../storage/operations/inspection.js';
import { Failure } from '../answer.js';
import { id } from '../arguments.js';
import type { Perform } from '../session.js';

/** `operation show --operation ID`: what an operator may see of one operation; never its input or its result. */
export function operationShowCommand(noun: Command, perform: Perform): void {
  noun
    .command('show')
    .requiredOption('--operation <id>', 'which one', id)
    .action((options: { operation: string }) => {
      perform(
        async ({ db }) => {
          const view = await viewOperation(db, options.operation);
          if (!view) throw new Failure(`there is no operation ${options.operation}`);
          return { ...view };
        },
        { action: 'command.read' },
      );
    });
}
