import { randomBytes } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { v7 as uuidv7 } from 'uuid';
import { Committer } from '../../../../actors/operations/partition/committer.js';
import type { Partition } from '../../../../actors/operations/partition/partition.js';
import { PendingStores } from '../../../../actors/operations/partition/pending-stores.js';
import { partitionOf } from '../../../../storage/model/records.js';
import { PLAIN_VAULT } from '../../../../storage/model/vault.js';
import type { Database } from '../../../../storage/postgres/database.js';
import { AnswerLost, NotSent } from '../../../../storage/postgres/liveness.js';
import { keyRing } from '../../../../storage/secrets/encryption.js';

t.test('of a batch that is divided only the part whose answer was lost is in doubt', async (t) => {
  const lost = new AnswerLost(new Error('cut'));
  const refused = Object.assign(new pg.DatabaseError('slow', 0, 'error'), { code: '57014' });
  const failures = [refused, lost];
  const doubted: number[] = [];
  const partition = (id: number) =>
    ({
      ...{ id, epoch: 1, direct: true },
      full: () => false,
      storing: () => true,
      reserve: () => false,
      stored: () => {},
      doubt: () => doubted.push(id),
    }) as unknown as Partition;
  const committer = new Committer({
    db: { vault: PLAIN_VAULT, query: () => Promise.reject(failures.shift()) } as unknown as Database,
    ring: keyRing([{ id: 'test', key: randomBytes(32) }]),
    fingerprint: (text) => Buffer.from(text),
    partition,
    pendingStores: new PendingStores(),
    hint: () => {},
  });
  const submit = (workspaceId: string, connectionId: string) =>
    committer
      .submit({
        ...{ workspaceId, connectionId, input: {}, idempotencyKey: uuidv7() },
        capability: 'social.identity.get',
      })
      .catch((error: unknown) => error);
  const [one, other] = [uuidv7(), uuidv7()];
  const alone = uuidv7();
  const answers = await Promise.all([submit(one, uuidv7()), submit(one, uuidv7()), submit(other, alone)]);
  t.equal(answers[2], lost);
  for (const answer of answers.slice(0, 2)) t.ok(answer instanceof NotSent, 'not stored for sure');
  t.strictSame(doubted, [partitionOf(alone)]);
  t.strictSame(failures, []);
});
