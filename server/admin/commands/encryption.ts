import type { Command } from 'commander';
import { keyRing } from '../../../storage/secrets/encryption.js';
import { replaceLostFingerprintSecret } from '../../../storage/secrets/installation.js';
import { compareKeys, replaceKeys } from '../../../storage/secrets/installation-keys.js';
import { sealedUnder } from '../../../storage/secrets/key-usage.js';
import { reencryptAll } from '../../../storage/secrets/reencrypt.js';
import { LIMITS } from '../../start/limits.js';
import { type Answer, Failure } from '../answer.js';
import type { Perform } from '../session.js';

/**
 * `encryption status|rotate|adopt`. To change the key: add the new one last in ENCRYPTION_KEYS of every node, then put it first on
 * every node, run `rotate`, take the former one out when `status` shows nothing under it, and run `adopt`.
 */
export function encryptionCommands(program: Command, perform: Perform): void {
  const noun = program.command('encryption').description('keys that seal secrets at rest');
  noun
    .command('status')
    .option('--all', 'read every row, not only the oldest and newest')
    .action(({ all }: { all?: true }) => {
      perform(
        async ({ db, keys }) => {
          const ring = keyRing(await keys());
          const { usage, complete } = await sealedUnder(db, all ? null : LIMITS.key_sample_rows);
          const sealed = usage.map((one) => ({ ...one, opens: one.key !== null && ring.keys.includes(one.key) }));
          const cannot_open = sealed.reduce((sum, { opens, rows }) => sum + (opens ? 0 : rows), 0);
          const { installed } = await compareKeys(db, []);
          return {
            keys: ring.keys,
            encrypts: ring.keys[0] ?? null,
            installation_keys: installed,
            sealed,
            cannot_open,
            complete,
          };
        },
        { action: 'command.read' },
      );
    });
  noun.command('rotate').action(() => {
    perform(
      async (session): Promise<Answer> => {
        const { db, record } = session;
        const ring = await session.ring();
        if (!ring.available) throw new Failure('there is no encryption key (ENCRYPTION_KEYS)');
        await db.transaction((tx) => record(tx, [])); // before the first of many transactions
        return { ...(await reencryptAll(db, ring)) };
      },
      { action: 'encryption.rotate' },
    );
  });
  noun
    .command('adopt')
    .description('note that the installation has the keys of this environment and no others')
    .action(() => {
      perform(
        async ({ db, keys, record }): Promise<Answer> => {
          const adopted = await keys();
          if (adopted.length === 0) throw new Failure('there is no encryption key (ENCRYPTION_KEYS)');
          await db.transaction((tx) => record(tx, []));
          await replaceKeys(db, adopted);
          // Without it no request is accepted.
          const replaced = await replaceLostFingerprintSecret(db, keyRing(adopted));
          return { installation_keys: adopted.map(({ id }) => id), fingerprint_secret_replaced: replaced };
        },
        { action: 'encryption.adopt' },
      );
    });
}
