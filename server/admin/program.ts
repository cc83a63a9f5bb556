import { Command } from 'commander';
import { VERSION } from '../start/version.js';
import { asJson, type Printed } from './answer.js';
import { auditCommands } from './commands/audit.js';
import { deliveryCommands } from './commands/deliveries.js';
import { type Apart, doctorCommand } from './commands/doctor.js';
import { encryptionCommands } from './commands/encryption.js';
import { eraseCommands } from './commands/erase.js';
import { inspectionCommands } from './commands/inspection.js';
import { keyCommands } from './commands/keys.js';
import { limitCommands } from './commands/limits.js';
import { connectionCommands, operationCommands } from './commands/lists.js';
import { operatorCommands } from './commands/operators.js';
import { proxyCommands } from './commands/proxies.js';
import { receiptCommands } from './commands/receipts.js';
import { requestFindCommand } from './commands/request-find.js';
import { restoreCommands } from './commands/restore.js';
import { workspaceCommands } from './commands/workspaces.js';
import { namedIn } from './named.js';
import { type Chosen, type Perform, withSession } from './session.js';

/**
 * Reads the command line and gives what the command prints. The database is only opened when the arguments are good.
 * @throws CommanderError for wrong usage (and, with exitCode 0, after --help), ConfigError, Failure
 */
export async function adminProgram(env: NodeJS.ProcessEnv, argv: string[]): Promise<Printed> {
  let chosen: Chosen | undefined;
  let apart: Apart | undefined;
  let options: Readonly<Record<string, unknown>> = {};
  const perform: Perform = (work, door) => {
    const command = argv.slice(0, argv[1]?.startsWith('-') ? 1 : 2).join(' ');
    chosen = { work, ...door, command, named: namedIn(options) };
  };
  const program = new Command('admin')
    .description("The operator's command line: answers with JSON on stdout.")
    .exitOverride()
    .hook('preAction', (_, command) => {
      options = command.opts();
    })
    // The caller prints an error, as one line.
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError(false);
  program.version(VERSION, '--version', "the service's version");
  doctorCommand(program, (work) => {
    apart = work;
  });
  workspaceCommands(program, perform);
  limitCommands(program, perform);
  keyCommands(program, perform);
  operatorCommands(program, perform);
  proxyCommands(program, perform);
  encryptionCommands(program, perform);
  inspectionCommands(program, perform);
  operationCommands(program, perform);
  connectionCommands(program, perform);
  deliveryCommands(program, perform);
  requestFindCommand(program, perform);
  restoreCommands(program, perform);
  auditCommands(program, perform);
  eraseCommands(program, perform);
  receiptCommands(program, perform);
  for (const noun of [program, ...program.commands]) {
    if (noun.commands.length === 0) continue; // it does something itself
    noun.allowExcessArguments().action(() => noun.error(usage(noun)));
  }
  program.parse(argv, { from: 'user' });
  if (apart) return apart(env);
  if (!chosen) throw new Error('no command was chosen');
  return asJson(await withSession(env, chosen));
}

/** `usage: admin key <create|list|rotate|revoke>` */
function usage(noun: Command): string {
  const verbs = noun.commands.map((command) => command.name()).join('|');
  return noun.parent ? `usage: admin ${noun.name()} <${verbs}>` : `usage: admin <${verbs}> <verb>, or admin --help`;
}
