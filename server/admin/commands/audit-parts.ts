import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Command } from 'commander';
import pg from 'pg';
import { auditParts, dropAuditPart, entriesOfPart, noteArchive, type OwnedPart } from '../../../storage/audit/parts.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { auditEntryJson } from '../../routes/operator/audit-json.js';
import { type Answer, Failure } from '../answer.js';
import { Progress } from '../progress.js';
import type { AdminSession, Perform } from '../session.js';

/** `audit parts|archive|drop`: the months of the audit log, written into files and dropped (HTTP-30). */
export function auditPartCommands(audit: Command, perform: Perform): void {
  audit
    .command('parts')
    .description('the months that the log is kept in, with their size and their archives')
    .action(() => {
      perform(async ({ db }) => ({ parts: (await auditParts(db)).map(shown) }), { action: 'command.read' });
    });
  audit
    .command('archive <part>')
    .description('write a part that gets no entries any more into a new file: a line of JSON each, compressed by gzip')
    .requiredOption('--to <file>', 'a file that is not there yet')
    .action((part: string, { to }: { to: string }) => {
      perform((session) => archive(session, part, to), { action: 'audit.archive' });
    });
  audit
    .command('drop <part>')
    .description('drop a part whose archive is at hand')
    .requiredOption('--archive <file>', 'what "audit archive" has written: its hash is compared')
    .action((part: string, { archive: file }: { archive: string }) => {
      perform((session) => drop(session, part, file), { action: 'audit.drop' });
    });
}

const shown = ({ relation: _, owned: __, ...part }: OwnedPart) => ({
  ...part,
  entries: part.entries < 0 ? null : part.entries,
});

async function archive({ db, record }: AdminSession, name: string, file: string): Promise<Answer> {
  const part = await closedPart(db, name);
  const written = await writeArchive(db, part, file);
  await db.transaction(async (tx) => {
    await noteArchive(tx, name, written);
    await record(tx, [], { details: { part: name, ...written } });
  });
  return { part: name, file, ...written };
}

/** Into a file beside it first, which is then linked to its place: what is there under its name is whole, and nothing is written over. */
async function writeArchive(db: Sql, part: OwnedPart, file: string): Promise<{ sha256: string; entries: number }> {
  const there = new Failure(`${file} is there already`);
  if (existsSync(file)) throw there;
  const unfinished = `${file}.unfinished`;
  const out = await open(unfinished, 'w', 0o600).catch((error: Error) => {
    throw new Failure(`${file}: ${error.message}`);
  });
  const progress = new Progress();
  const hash = createHash('sha256');
  let entries = 0;
  async function* lines() {
    for await (const rows of entriesOfPart(db, part)) {
      entries += rows.length;
      progress.tell(`${entries} entries`);
      yield rows.map((row) => `${JSON.stringify(auditEntryJson(row))}\n`).join('');
    }
  }
  try {
    await pipeline(
      Readable.from(lines()),
      createGzip(),
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      out.createWriteStream({ flush: true }),
    );
    await link(unfinished, file).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? there : error;
    });
  } finally {
    await rm(unfinished, { force: true });
  }
  return { sha256: hash.digest('hex'), entries };
}

async function drop({ db, record }: AdminSession, name: string, file: string): Promise<Answer> {
  const part = await closedPart(db, name);
  const sha256 = await hashOf(file);
  const archived = part.archives.find((one) => one.sha256 === sha256);
  if (!archived) throw new Failure(`${file} is no archive of ${name} as "audit archive" wrote it`);
  const { entries } = archived;
  if (!part.owned) {
    throw new Failure(
      `the audit log belongs to ${part.owner}: as that role, "select audit.drop_part('${name}', ${entries})"`,
    );
  }
  try {
    await db.transaction(async (tx) => {
      await dropAuditPart(tx, name, entries);
      await record(tx, [], { details: { part: name, sha256, entries } });
    });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (error.code === '55000') throw new Failure(`${error.message}: archive it again`);
    if (error.code === '55P03') throw new Failure('the audit log is in use just now: run it again');
    throw error;
  }
  return { part: name, dropped: entries };
}

async function closedPart(db: Sql, name: string): Promise<OwnedPart> {
  const [part] = await auditParts(db, name);
  if (!part) throw new Failure(`the audit log has no part ${name}: see "audit parts"`);
  const { until } = part;
  if (part.open) throw new Failure(`${name} may still get entries${until ? `, until ${until.toISOString()}` : ''}`);
  return part;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message}`);
  }
  return hash.digest('hex');
}
