import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The role as which the service uses the embedded database. It owns the database and all in it, and nothing beyond: it can run
 * no program, read no file and gain no right, so that no statement reaches further than the tables.
 *
 * I1. The superuser has no password, so that nobody can connect as it. What needs it (the statements below) is run by
 *     PostgreSQL itself in single-user mode, before the server starts.
 * I2. The first start brings about the same, whatever the folder held before: a database that was wholly the superuser's, one that was
 *     restored, one whose password file was lost. It is one transaction, so that a start that is killed changes nothing. The folder
 *     then notes for which password and by which statements it was set up: a start with the same has nothing to do.
 * I3. The superuser calls nothing that the service's role could have made.
 */
export const SERVICE_ROLE = 'connection_service';

export interface RoleOptions {
  /** Whether it may make databases beside its own; the suite's does, the service's has no need to. */
  createDatabases: boolean;
}

/** What makes the role what it has to be. */
export interface RoleSetup {
  /** For `runSingleUser`. They hold no password, only what checks it. */
  statements: string[];
  /** A hash of all that decides them, the password with it. */
  hash: string;
}

/** What a folder needs for this password; null where it was set up so (I2). */
export async function roleSetup(dir: string, password: string, options: RoleOptions): Promise<RoleSetup | null> {
  const hash = createHmac('sha256', password).update(setup('', options)).digest('hex');
  const noted = await readFile(join(dir, NOTE), 'utf8').catch(() => '');
  if (noted === hash) return null;
  return { statements: ['set search_path = pg_catalog', setup(scramVerifier(password), options)], hash }; // I3
}

export async function noteSetUp(dir: string, { hash }: RoleSetup): Promise<void> {
  await writeFile(join(dir, NOTE), hash, { mode: 0o600 });
}

/** In the folder of the data, with which it is copied and restored. */
const NOTE = 'service-role';

const setup = (verifier: string, { createDatabases }: RoleOptions) => `
do $setup$
declare
  statement text;
begin
  if not exists (select from pg_roles where rolname = '${SERVICE_ROLE}') then
    create role ${SERVICE_ROLE};
  end if;
  alter role ${SERVICE_ROLE} login nosuperuser nocreaterole noreplication nobypassrls
    ${createDatabases ? 'createdb' : 'nocreatedb'} password '${verifier}';
  alter role postgres password null;
  for statement in ${OWNED_BY_SUPERUSER} loop
    execute statement || ' owner to ${SERVICE_ROLE}';
  end loop;
end
$setup$`;

/**
 * What the superuser owns, as the beginnings of the statements that give it away. REASSIGN OWNED refuses to: the system's own is among it.
 * A sequence of a column follows its table, and what an extension brought stays the superuser's.
 */
const OWNED_BY_SUPERUSER = `
    with own as (
      select oid from pg_namespace where nspname not like 'pg\\_%' and nspname <> 'information_schema'
    ), follows as (
      select classid, objid from pg_depend
      where deptype = 'e' or (classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass and deptype in ('a', 'i'))
    )
    select format('alter database %I', datname) from pg_database
      where datdba = 'postgres'::regrole and not datistemplate
    union all
    select format('alter schema %I', nspname) from pg_namespace
      where nspowner = 'postgres'::regrole and oid in (select oid from own)
        and ('pg_namespace'::regclass, oid) not in (select classid, objid from follows)
    union all
    select format('alter table %s', oid::regclass) from pg_class
      where relowner = 'postgres'::regrole and relnamespace in (select oid from own)
        and (relkind in ('r', 'p', 'v', 'm', 'f') or (relkind = 'S' and ('pg_class'::regclass, oid) not in (select classid, objid from follows)))
        and ('pg_class'::regclass, oid) not in (select classid, objid from pg_depend where deptype = 'e')
    union all
    select format('alter routine %s', oid::regprocedure) from pg_proc
      where proowner = 'postgres'::regrole and pronamespace in (select oid from own)
        and ('pg_proc'::regclass, oid) not in (select classid, objid from follows)
    union all
    select format('alter type %s', oid::regtype) from pg_type
      where typowner = 'postgres'::regrole and typnamespace in (select oid from own)
        and (typtype in ('e', 'd', 'r') or typrelid in (select oid from pg_class where relkind = 'c'))
        and ('pg_type'::regclass, oid) not in (select classid, objid from follows)`;

/** Rounds of hashing, as PostgreSQL makes its own. */
const SCRAM_ROUNDS = 4096;

/** What PostgreSQL stores of a password of ASCII characters, to check it with (RFC 5803). */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, SCRAM_ROUNDS, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${SCRAM_ROUNDS}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
}
