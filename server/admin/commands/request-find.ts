import { type Command, InvalidArgumentError } from 'commander';
import { findSubmitted } from '../../../storage/operations/inspection.js';
import { isPrintableKey } from '../../http/fields.js';
import { duration, id } from '../arguments.js';
import type { Perform } from '../session.js';

const DAY_ms = 24 * 3_600_000;

/** `request find --request-id X [--since 24h] [--workspace ID]`: the operations that a request submitted (HTTP-3). Reads only. */
export function requestFindCommand(program: Command, perform: Perform): void {
  program
    .command('request')
    .description('requests by the id that their answers carry as X-Request-Id')
    .command('find')
    .requiredOption('--request-id <id>', 'which one', requestId)
    .option('--since <duration>', 'how far back to look', duration, DAY_ms)
    .option('--workspace <id>', 'whose it was; makes the search shorter', id)
    .action(({ requestId, since, workspace }: { requestId: string; since: number; workspace?: string }) => {
      perform(
        async ({ db }) => {
          const from = new Date(Date.now() - since);
          const found = await findSubmitted(db, { requestId, since: from, workspaceId: workspace ?? null });
          return { request_id: requestId, since: from, ...found };
        },
        { action: 'command.read' },
      );
    });
}

function requestId(text: string): string {
  if (isPrintableKey(text)) return text;
  throw new InvalidArgumentError('It wants 1 to 128 printable characters.');
}
