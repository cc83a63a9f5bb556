import t from 'tap';
import { WorkspaceDatabase } from '../../../../server/http/admission/workspace-database.js';
import { freshDatabase } from '../../../fixture/database.js';

t.test(
  'a request whose transaction was begun is not refused: it waits, where others are told that nothing was done',
  async (t) => {
    const { db } = await freshDatabase(t);
    const workspace = new WorkspaceDatabase(db);
    const [written, other] = [workspace.of('key'), workspace.of('key')];
    await written.transaction((tx) => tx.query('testWrite', 'create table written ()'));

    const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const connections = db.pool.options.max ?? 1;
    const holding = Array.from(
      { length: connections },
      () =>
        workspace
          .of('holder')
          .transaction(async () => {
            held.resolve();
            await release.promise;
          })
          .catch((error) => error), // those that get no turn are refused
    );
    await held.promise;
    let answered = false;
    const read = written.query('testRead', 'select from written').then(() => {
      answered = true;
    });
    await t.rejects(other.query('testRead', 'select from written'), { code: 'overloaded' });
    t.notOk(answered, 'it waits still');
    release.resolve();
    await read;
    await Promise.all(holding);
  },
);
