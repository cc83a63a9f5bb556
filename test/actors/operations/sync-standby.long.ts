import t from 'tap';
import { openDatabase } from '../../../storage/postgres/database.js';
import { migrate } from '../../../storage/schema/migrate.js';
import { eventually } from '../../fixture/eventually.js';
import { jobState } from '../../fixture/jobs.js';
import { stockPostgres } from '../../fixture/stock-postgres.js';
import { operationsThread } from './thread.js';

t.setTimeout(200_000);

/** Commits wait for a synchronous standby that is away, while reads go on: a closing commits long after its owner has given its answer up. */
t.test('an outage of the synchronous standby leaves no operation without an owner', async (t) => {
  const server = await stockPostgres(t);
  const url = await server.createOwner('service');
  const db = openDatabase({ url, maxConnections: 8, applicationName: 'test', onError: () => {} });
  t.teardown(() => db.close());
  await migrate(url);
  const standby = async (names: string) => {
    await server.run(`alter system set synchronous_standby_names = '${names}'`);
    await server.run('select pg_reload_conf()');
    await eventually(
      'the setting is there',
      () => db.query<{ names: string }>('testNames', `select current_setting('synchronous_standby_names') as names`),
      ([row]) => row?.names === names,
    );
  };
  const { thread, connection, partition, submit, ended } = await operationsThread(
    t,
    async () => ({ status: 'succeeded', result: {} }),
    { database: { db, url } },
  );
  t.teardown(() => standby(''));
  const given = Promise.withResolvers<unknown>();
  const query = thread.query;
  let away = false;
  thread.query = async (name, ...statement) => {
    if (name !== 'closeMailboxes') return query<never>(name, ...statement);
    if (!away) {
      away = true;
      await standby('away'); // just before a mailbox is closed
    }
    return query<never>(name, ...statement).catch((error) => {
      given.resolve(error);
      throw error;
    });
  };
  await submit('known');
  await ended('known');
  // As the poll of a thread (`dueQueues`): it opens mailboxes only where one is due. That of the fixture asks each time.
  const fetch = partition.fetch.bind(partition);
  partition.fetch = async () => {
    if ((await jobState(db, connection.id)) === 'created') await fetch();
  };
  t.equal(((await given.promise) as Error).name, 'AnswerLost', 'a closing is not answered');
  const send = () =>
    submit('write', 'social.invitation.send', { recipient_actor_id: 'ACoAA1' }).catch((error: Error) => error);
  // The pool asks whether the database is there, which it is; the client sends again what was not sent.
  await eventually('it is sent', send, (outcome) => !(outcome instanceof Error) || outcome.name !== 'NotSent');
  await standby('');
  const repeated = await eventually('the client repeats it', send, (outcome) => !(outcome instanceof Error));
  t.match(repeated, { kind: /created|replayed/ });
  t.match(await ended('write'), { status: 'succeeded' }, 'what was accepted runs');
});
