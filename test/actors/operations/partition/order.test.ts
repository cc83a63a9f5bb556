import { randomBytes } from 'node:crypto';
import t from 'tap';
import { LARGE_INPUT_bytes } from '../../../../storage/operations/submission.js';
import { AnswerLost } from '../../../../storage/postgres/liveness.js';
import { eventually } from '../../../fixture/eventually.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { sized } from '../../../fixture/size.js';
import { operationsThread } from '../thread.js';

/*
 * Who submits an operation again while the first answer is under way is told that it is stored. What is submitted after that comes after it,
 * however late the first answer reaches the thread, and also where it never does.
 */
const WRITE = 'social.message.send';
const SMALL = { recipient_actor_id: 'ada', body: 'hello' };
const LARGE = { ...SMALL, data_base64: randomBytes(2 * LARGE_INPUT_bytes).toString('base64') }; // which nothing compresses

/** Each way in which an operation is stored whose answer is late. */
const WAYS = {
  'starts with its acceptance': { busy: false, input: SMALL },
  'is large and waits': { busy: true, input: LARGE },
  ...sized(
    {},
    {
      'waits behind what runs': { busy: true, input: SMALL },
      'is large': { busy: false, input: LARGE },
    },
  ),
};

for (const [way, { busy, input }] of Object.entries(WAYS))
  for (const answer of ['late', 'lost'] as const)
    for (const where of ['here', 'elsewhere'] as const)
      t.test(`what ${way}, and whose answer is ${answer}, is not overtaken by what is stored ${where}`, async (t) => {
        const free = Promise.withResolvers<void>();
        const { connection, context, db, partition, ...thread } = await operationsThread(t, async ({ operationId }) => {
          if (busy && thread.attempts.length === 2 && thread.attempts[1] === operationId) await free.promise;
          return { status: 'succeeded', result: {} };
        });
        const { submit, storeElsewhere, ended, attempts } = thread;
        await submit('open');
        await ended('open');
        if (busy) {
          await submit('busy');
          await ended('busy', ['running']);
          await eventually(
            'it runs',
            () => attempts.length,
            (count) => count === 2,
          );
        }
        const answered = Promise.withResolvers<void>();
        const { query } = context.db;
        context.db.query = async (name, ...statement) => {
          const rows = await query(name, ...statement);
          if (name === 'submitOperations') {
            context.db.query = query;
            await answered.promise;
            if (answer === 'lost') throw new AnswerLost(new Error('as the test says'));
          }
          return rows as never;
        };
        const first = submit('first', WRITE, input).catch((error: Error) => error);
        await ended('first', ['queued', 'running']);
        // Another node tells the client that it is stored: what comes now comes after it.
        const second = where === 'here' ? submit('second', WRITE, SMALL) : storeElsewhere('second', WRITE, SMALL);
        if (where === 'elsewhere') await second;
        void partition.fetch();
        free.resolve();
        const other = await insertSimulated(db, thread.workspaceId, 'another');
        await storeElsewhere('another', WRITE, SMALL, other.id);
        void partition.fetch();
        await ended('another'); // what is late holds up nobody else's
        answered.resolve();
        if (answer === 'late') t.match(await first, { kind: 'created' });
        else t.match(await first, { name: 'AnswerLost' });
        await second;
        await ended('first');
        await ended('second');
        const rows = await db.query<{ id: string; idempotency_key: string; attempts: number }>(
          'testKeys',
          'select id, idempotency_key from operation where connection_id = $1',
          [connection.id],
        );
        const keys = new Map(rows.map((row) => [row.id, row.idempotency_key]));
        t.strictSame(
          attempts.flatMap((id) => keys.get(id) ?? []),
          ['open', ...(busy ? ['busy'] : []), 'first', 'second'],
        );
        await eventually(
          'nothing is left in hand',
          () => partition.inHand,
          (left) => left.length === 0,
        );
      });
