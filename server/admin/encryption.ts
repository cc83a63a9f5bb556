import type { Command } from 'commander';
import { reencryptAll } from '../../storage/secrets/reencrypt.js';
import { Failure } from './answer.js';
import type { Perform } from './session.js';

/** `encryption rotate`: put the new key first in ENCRYPTION_KEYS everywhere, restart, run this, drop the old key. */
export function encryptionCommands(program: Command, perform: Perform): void {
  const noun = program.command('encryption').description('keys that seal secrets at rest');
  noun.command('rotate').action(() => {
    perform(async ({ db, ring }) => {
      if (!ring.available) throw new Failure('there is no encryption key (ENCRYPTION_KEYS)');
      return { resealed: await reencryptAll(db, ring) };
    });
  });
}
