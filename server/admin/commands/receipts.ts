import type { Command } from 'commander';
import { findReceipt, listReceipts } from '../../../storage/erasure/receipts.js';
import { Failure } from '../answer.js';
import { id, identifier, pageLimit } from '../arguments.js';
import type { Perform } from '../session.js';

/** `receipt list`, `receipt show`: what was erased at requests (STO-7). */
export function receiptCommands(program: Command, perform: Perform): void {
  const noun = program.command('receipt').description('what was erased at requests');
  noun
    .command('list')
    .option('--cursor <id>', 'from the `next_cursor` of the page before', id)
    .option('--limit <n>', 'how many', pageLimit, 100)
    .action(({ cursor, limit }: { cursor?: string; limit: number }) => {
      perform(
        async ({ db }) => {
          const found = await listReceipts(db, cursor ?? null, limit + 1);
          const receipts = found.slice(0, limit);
          return { receipts, next_cursor: found.length > limit ? receipts.at(-1)?.id : null };
        },
        { action: 'command.read' },
      );
    });
  noun
    .command('show')
    .requiredOption('--receipt <id>', 'which one', id)
    .option('--person <identifier>', 'is it about this person?', identifier)
    .action(({ receipt, person }: { receipt: string; person?: string }) => {
      perform(
        async ({ db }) => {
          const found = await findReceipt(db, receipt, person ?? null);
          if (!found) throw new Failure(`there is no receipt ${receipt}`);
          return { ...found };
        },
        { action: 'command.read' },
      );
    });
}
