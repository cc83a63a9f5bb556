import type { Command } from 'commander';
import { connectDatabase, inspected } from '../../../storage/postgres/embedded/embedded.js';
import type { Finding } from '../../../storage/postgres/server-checks/inspect.js';
import { databaseConnections } from '../../start/database-connections.js';
import { readConfig } from '../../start/settings/config.js';
import { asJson, type Printed } from '../answer.js';

/** A command that migrates nothing and records nothing: it may look at a server that the service cannot use. */
export type Apart = (env: NodeJS.ProcessEnv) => Promise<Printed>;

/** `doctor` (CLI-11): what a start would find of the database, without starting anything but an embedded server. */
export function doctorCommand(program: Command, perform: (work: Apart) => void): void {
  program
    .command('doctor')
    .description('looks at the database as a start does: what it finds, what that means and what to do')
    .option('--table', 'for people: a table in place of JSON')
    .action(({ table = false }: { table?: boolean }) => perform((env) => examine(env, table)));
}

async function examine(env: NodeJS.ProcessEnv, table: boolean): Promise<Printed> {
  const config = readConfig(env);
  const wanted = { connections: databaseConnections(config) };
  const findings = config.databaseUrl
    ? await inspected(config.databaseUrl, wanted)
    : await ofEmbedded(config.dataDir, wanted);
  const starts = !findings.some(({ level }) => level === 'refused');
  const status = starts ? 0 : 1;
  return table ? { text: findings.map(paragraph).join('\n'), status } : asJson({ starts, findings }, status);
}

const LEVEL_WIDTH = 9;
const CHECK_WIDTH = 20;

/** One line; below it, where not all is well, what that means and what to do. */
function paragraph({ check, level, found, means, action }: Finding): string {
  const line = `${level.padEnd(LEVEL_WIDTH)}${check.padEnd(CHECK_WIDTH)}${found}`;
  const indent = ' '.repeat(LEVEL_WIDTH);
  return means === null ? line : `${line}\n${indent}${means}\n${indent}To do: ${action}.`;
}

async function ofEmbedded(dataDir: string, wanted: { connections: number }): Promise<Finding[]> {
  const database = await connectDatabase({ dataDir, exclusive: false, existing: true });
  try {
    return await inspected(database.url, wanted);
  } finally {
    await database.stop();
  }
}
