import type { Command } from 'commander';
import { SCOPES, type Scope } from '../../../storage/model/records.js';
import { createKey, listKeys, type NewApiKey, revokeKey, rotateKey } from '../../../storage/workspaces/keys.js';
import { findWorkspaces } from '../../../storage/workspaces/workspaces.js';
import { Failure } from '../answer.js';
import { cidrs, duration, futureTime, id, name, scopes } from '../arguments.js';
import type { Perform } from '../session.js';

interface CreateOptions {
  workspace: string;
  scopes: Scope[];
  name?: string;
  expires?: Date;
  networks?: string[];
}

/** `key create|list|rotate|revoke`; only the command that makes a key shows it. */
export function keyCommands(program: Command, perform: Perform): void {
  const noun = program.command('key').description('keys of a workspace');
  createCommand(noun, perform);
  listCommand(noun, perform);
  rotateCommand(noun, perform);
  revokeCommand(noun, perform);
}

function createCommand(noun: Command, perform: Perform): void {
  bounded(noun.command('create'))
    .requiredOption('--workspace <id>', 'the workspace it opens', id)
    .requiredOption('--scopes <a,b>', `what it may do, out of ${SCOPES.join(', ')}`, scopes)
    .option('--name <name>', 'what people call it', name)
    .action((options: CreateOptions) => {
      perform(
        async ({ db, record }) => {
          const key = {
            workspaceId: options.workspace,
            name: options.name ?? null,
            scopes: options.scopes,
            networks: options.networks ?? null,
            expiresAt: options.expires ?? null,
          };
          return db.transaction(async (tx) => {
            const created = await createKey(tx, key);
            if (!created) throw new Failure(`there is no workspace ${options.workspace}`);
            await record(tx, [['key', created.row.id]], { workspaceId: options.workspace });
            return shownOnce(created);
          });
        },
        { action: 'key.create' },
      );
    });
}

function listCommand(noun: Command, perform: Perform): void {
  noun
    .command('list')
    .requiredOption('--workspace <id>', 'whose keys', id)
    .action((options: { workspace: string }) => {
      perform(
        async ({ db }) => {
          const [workspace] = await findWorkspaces(db, [options.workspace]);
          if (!workspace) throw new Failure(`there is no workspace ${options.workspace}`);
          const rows = await listKeys(db, workspace.id);
          return { keys: rows.map(({ id, workspace_id: _, created_us: __, ...row }) => ({ key_id: id, ...row })) };
        },
        { action: 'command.read' },
      );
    });
}

function rotateCommand(noun: Command, perform: Perform): void {
  overlapping(noun.command('rotate'))
    .requiredOption('--key <id>', 'the key to replace', id)
    .action((options: { key: string; overlap: number }) => {
      perform(
        async ({ db, record }) => {
          const rotated = await db.transaction(async (tx) => {
            const made = await rotateKey(tx, options.key, options.overlap);
            if (!made) throw new Failure(`there is no usable key ${options.key}`);
            const { id, workspace_id: workspaceId } = made.row;
            await record(
              tx,
              [
                ['key', options.key],
                ['key', id],
              ],
              { workspaceId },
            );
            return made;
          });
          const previous = { previous_key_id: options.key, previous_valid_until: rotated.previousValidUntil };
          return { ...shownOnce(rotated), ...previous };
        },
        { action: 'key.rotate' },
      );
    });
}

function revokeCommand(noun: Command, perform: Perform): void {
  noun
    .command('revoke')
    .requiredOption('--key <id>', 'the key to end', id)
    .action((options: { key: string }) => {
      perform(
        async ({ db, record }) => {
          const revoked = await db.transaction(async (tx) => {
            const ended = await revokeKey(tx, options.key);
            if (ended) await record(tx, [['key', options.key]], { workspaceId: ended.workspace_id });
            return ended;
          });
          if (!revoked) throw new Failure(`there is no key ${options.key}`);
          return { key_id: options.key, revoked_at: revoked.revoked_at };
        },
        { action: 'key.revoke' },
      );
    });
}

/** When a key expires, and where it may be used from. */
export const bounded = (create: Command): Command =>
  create
    .option('--expires <time>', 'ISO 8601', futureTime)
    .option('--networks <a,b>', 'where it may be used from, such as 10.0.0.0/8,2001:db8::/32', cidrs);

export const overlapping = (rotate: Command): Command =>
  rotate.option('--overlap <duration>', 'how long the old one stays valid', duration, 86_400_000);

const shownOnce = ({ key, row }: NewApiKey) => ({
  key_id: row.id,
  key,
  workspace_id: row.workspace_id,
  scopes: row.scopes,
  networks: row.networks,
  expires_at: row.expires_at,
});
