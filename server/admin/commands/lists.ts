import { type Command, Option } from 'commander';
import { DELIVERY_STATUSES, type DeliveryStatus, type OperationStatus } from '../../../storage/model/records.js';
import {
  listAllConnections,
  listAllDeliveries,
  listAllOperations,
  type PageOptions,
} from '../../../storage/partitions/operator-lists.js';
import { id, pageLimit } from '../arguments.js';
import { ageInWords } from '../duration-words.js';
import type { Perform } from '../session.js';
import { operationShowCommand } from './operation-show.js';

interface ListOptions {
  workspace?: string;
  cursor?: string;
  limit: number;
}

const OPERATION_STATUSES = {
  queued: true,
  running: true,
  waiting_user: true,
  succeeded: true,
  failed: true,
  canceled: true,
  skipped: true,
  outcome_unknown: true,
} satisfies Record<OperationStatus, true>;
const HEALTHS = ['ready', 'needs_login', 'invalid'] as const;

/** `operation list [--workspace ID] [--connection ID] [--status S]`, a page at a time, newest first (CLI-8). */
export function operationCommands(program: Command, perform: Perform): void {
  const noun = program.command('operation').description('what was submitted');
  operationShowCommand(noun, perform);
  listCommand(noun)
    .option('--connection <id>', 'only of this connection', id)
    .addOption(new Option('--status <status>', 'only in this status').choices(Object.keys(OPERATION_STATUSES)))
    .action((options: ListOptions & { connection?: string; status?: OperationStatus }) => {
      const { connection: connectionId = null, status = null } = options;
      perform(
        async ({ db }) => {
          const { rows, next } = await listAllOperations(db, { ...pageOf(options), connectionId, status });
          return { operations: rows.map((row) => ({ ...row, age: ageInWords(row.created_at) })), next_cursor: next };
        },
        { action: 'command.read' },
      );
    });
}

/** `connection list [--workspace ID] [--health H]` */
export function connectionCommands(program: Command, perform: Perform): void {
  const noun = program.command('connection').description('accounts of the provider');
  listCommand(noun)
    .addOption(new Option('--health <health>', 'only with this health').choices(HEALTHS))
    .action((options: ListOptions & { health?: (typeof HEALTHS)[number] }) => {
      perform(
        async ({ db }) => {
          const { rows, next } = await listAllConnections(db, { ...pageOf(options), health: options.health ?? null });
          return { connections: rows.map((row) => ({ ...row, age: ageInWords(row.created_at) })), next_cursor: next };
        },
        { action: 'command.read' },
      );
    });
}

/** `delivery list [--workspace ID] [--failed | --status S]` */
export function deliveryListCommand(noun: Command, perform: Perform): void {
  listCommand(noun)
    .addOption(new Option('--status <status>', 'only in this status').choices(DELIVERY_STATUSES))
    .addOption(new Option('--failed', 'only those that failed').conflicts('status'))
    .action((options: ListOptions & { status?: DeliveryStatus; failed?: true }) => {
      const status = options.failed ? 'failed' : (options.status ?? null);
      perform(
        async ({ db }) => {
          const { rows, next } = await listAllDeliveries(db, { ...pageOf(options), status });
          return { deliveries: rows, next_cursor: next };
        },
        { action: 'command.read' },
      );
    });
}

function listCommand(noun: Command): Command {
  return noun
    .command('list')
    .description('newest first; a page may be short, or empty, and go on: next_cursor is null behind the last one')
    .option('--workspace <id>', 'only of this workspace', id)
    .option('--cursor <id>', "the former page's next_cursor", id)
    .option('--limit <n>', 'rows of a page, at most 100', pageLimit, 20);
}

const pageOf = ({ workspace, cursor, limit }: ListOptions): PageOptions => ({
  workspaceId: workspace ?? null,
  after: cursor ?? null,
  limit,
});
