import type { Command } from 'commander';
import { sealedUnder } from '../../storage/secrets/key-usage.js';
import { reencryptAll } from '../../storage/secrets/reencrypt.js';
import { LIMITS } from '../start/limits.js';
import { type Answer, Failure } from './answer.js';
import type { Perform } from './session.js';

/**
 * `encryption status|rotate`. To change the key: add the new one last in ENCRYPTION_KEYS of every node, then put it first on
 * every node, run `rotate`, and take the former one out when `status` shows nothing under it.
 */
export function encryptionCommands(program: Command, perform: Perform): void {
  const noun = program.command('encryption').description('keys that seal secrets at rest');
  noun
    .command('status')
    .option('--all', 'read every row, not only the oldest and newest')
    .action(({ all }: { all?: true }) => {
      perform(async ({ db, ring }) => {
        const { usage, complete } = await sealedUnder(db, all ? null : LIMITS.key_sample_rows);
        const sealed = usage.map((one) => ({ ...one, opens: one.key !== null && ring.keys.includes(one.key) }));
        const cannot_open = sealed.reduce((sum, { opens, rows }) => sum + (opens ? 0 : rows), 0);
        return { keys: ring.keys, encrypts: ring.keys[0] ?? null, sealed, cannot_open, complete };
      });
    });
  noun.command('rotate').action(() => {
    perform(async ({ db, ring }): Promise<Answer> => {
      if (!ring.available) throw new Failure('there is no encryption key (ENCRYPTION_KEYS)');
      return { ...(await reencryptAll(db, ring)) };
    });
  });
}
