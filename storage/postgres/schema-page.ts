import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase, type Sql } from './database.js';
import { connectDatabase } from './embedded.js';
import { migrate } from './migrate.js';

/**
 * `schema.sql`: what the migrations add up to, as one page to read. The embedded PostgreSQL comes without pg_dump, so its
 * catalogs are read here; pg-boss's schema is its own and is left out.
 */
const FILE = join(import.meta.dirname, '../../../storage/schema.sql');
const HEAD = `-- Written by storage/postgres/dump.ts from the migrations; not run by anything.\n`;

/** One statement for each table, its columns and constraints in it, for each index that backs no constraint, trigger and function. */
export async function dumpSchema(sql: Sql): Promise<string> {
  const unknown = await sql.query<{ kind: string; name: string }>('dumpUnknown', UNKNOWN);
  if (unknown.length > 0) {
    throw new Error(`the dump does not show ${unknown.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`);
  }
  const lines = await sql.query<{ table: string; kind: 'column' | 'constraint' | 'index' | 'trigger'; text: string }>(
    'dump',
    DUMP,
  );
  const tables = [...new Set(lines.map((line) => line.table))].map((table) => {
    const of = (...kinds: string[]) => lines.filter((l) => l.table === table && kinds.includes(l.kind));
    const body = of('column', 'constraint').map((line) => `  ${line.text}`);
    const others = of('index', 'trigger').map((line) => `${line.text};\n`);
    return `create table ${table} (\n${body.join(',\n')}\n);\n${others.join('')}`;
  });
  const functions = await sql.query<{ text: string }>('dumpFunctions', FUNCTIONS);
  return [HEAD, ...tables, ...functions.map(({ text }) => `${text.trimEnd()};\n`)].join('\n');
}

const DUMP = `
  with relation as (
    select oid, relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r')
  select relname as table, kind, text from (
    select r.relname, 1 as rank, 'column' as kind, attnum as place, '' as name,
      quote_ident(attname) || ' ' || format_type(atttypid, atttypmod)
        || case when attnotnull then ' not null' else '' end
        || coalesce(' default ' || pg_get_expr(adbin, adrelid), '') as text
    from relation r join pg_attribute a on a.attrelid = r.oid
    left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
    where attnum > 0 and not attisdropped
    union all
    select r.relname, 2, 'constraint', array_position('{p,u,f,c}'::"char"[], contype), conname,
      'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(c.oid)
    from relation r join pg_constraint c on c.conrelid = r.oid where contype in ('p', 'u', 'f', 'c')
    union all
    select r.relname, 3, 'index', 0, i.relname, pg_get_indexdef(i.oid)
    from relation r join pg_index x on x.indrelid = r.oid join pg_class i on i.oid = x.indexrelid
    where not exists (select 1 from pg_constraint c where c.conindid = i.oid and c.conrelid = r.oid)
    union all
    select r.relname, 4, 'trigger', 0, tgname, pg_get_triggerdef(t.oid)
    from relation r join pg_trigger t on t.tgrelid = r.oid where not tgisinternal
  ) line order by relname, rank, place, name`;

const FUNCTIONS = `
  select pg_get_functiondef(oid) as text from pg_proc
  where pronamespace = 'public'::regnamespace and prokind = 'f' order by proname`;

/** Everything that a migration could make and the dump does not show: extend the dump first. */
const UNKNOWN = `
  select 'relation' as kind, relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind not in ('r', 'i')
  union all
  select 'function', proname from pg_proc where pronamespace = 'public'::regnamespace and prokind <> 'f'
  union all
  select 'type', typname from pg_type where typnamespace = 'public'::regnamespace and typtype in ('e', 'd', 'r')`;

/** The dump of a database that was made for it from nothing. */
async function dumpMigrations(): Promise<string> {
  await mkdir('.data', { recursive: true });
  const dataDir = await mkdtemp(join(process.cwd(), '.data/schema-'));
  try {
    const server = await connectDatabase({ dataDir, exclusive: true });
    try {
      await migrate(server.url);
      const db = openDatabase({ url: server.url, maxConnections: 1, applicationName: 'dump' });
      return await dumpSchema(db).finally(() => db.close());
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Writes the page; with `check` only compares it. Gives what is wrong. */
export async function updatePage({ check }: { check: boolean }): Promise<string | undefined> {
  const text = await dumpMigrations();
  if (!check) await writeFile(FILE, text);
  else if ((await readFile(FILE, 'utf8').catch(() => '')) !== text)
    return 'storage/schema.sql is stale: run `npm run schema`';
  return undefined;
}
