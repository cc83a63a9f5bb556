import type { Command } from 'commander';
import type { ErasureRequest } from '../../../storage/erasure/receipts.js';
import { count, id, identifier } from '../arguments.js';
import type { Perform } from '../session.js';
import { erasePersonConfirmed, showPerson } from './erase-person.js';
import { eraseConnection } from './erasure.js';

interface EraseOptions {
  connection?: string;
  person?: string;
  workspace?: string;
  allWorkspaces?: true;
  confirm?: number;
  rewrite?: true;
}

/** `erase --connection ID`, `erase --person NAME`: at somebody's request, with a receipt (STO-7). Of a person it shows first. */
export function eraseCommands(program: Command, perform: Perform): void {
  program
    .command('erase')
    .description('erase a connection, or all that names a person, at a request')
    .option('--connection <id>', 'the connection with all that belongs to it', id)
    .option(
      '--person <identifier>',
      'as the network names the person: an id, a public identifier, an address',
      identifier,
    )
    .option('--workspace <id>', 'of a person: in this workspace', id)
    .option('--all-workspaces', 'of a person: in every workspace')
    .option('--confirm <n>', 'of a person: erase, if it is at most so much; without it the count is shown', count)
    .option('--rewrite', 'write the tables to new files: nobody can use a table while it is written')
    .action((options: EraseOptions, command: Command) => {
      const request = requestOf(options, command);
      const { confirm, rewrite = false } = options;
      if (request.kind === 'connection') {
        perform((session) => eraseConnection(session, request.connectionId, rewrite), { action: 'erase.connection' });
      } else if (confirm === undefined) {
        if (rewrite) command.error('error: --rewrite of a person goes with --confirm');
        perform((session) => showPerson(session, request), { action: 'command.read' });
      } else {
        perform((session) => erasePersonConfirmed(session, request, { confirm, rewrite }), { action: 'erase.person' });
      }
    });
}

function requestOf(options: EraseOptions, command: Command): ErasureRequest {
  const { connection, person, workspace, allWorkspaces, confirm } = options;
  if (connection !== undefined && person === undefined) {
    if ([workspace, allWorkspaces, confirm].some((one) => one !== undefined)) {
      command.error('error: --workspace, --all-workspaces and --confirm go with --person');
    }
    return { kind: 'connection', connectionId: connection };
  }
  if (connection !== undefined || person === undefined)
    command.error('error: it wants either --connection or --person');
  if ((workspace === undefined) === (allWorkspaces === undefined)) {
    command.error('error: --person wants either --workspace or --all-workspaces');
  }
  return { kind: 'person', person, workspaceId: workspace ?? null };
}
