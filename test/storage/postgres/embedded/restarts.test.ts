import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { LIMITS } from '../../../../storage/limits.js';
import { connectDatabase } from '../../../../storage/postgres/embedded/embedded.js';
import type { Running } from '../../../../storage/postgres/embedded/embedded-server.js';
import { dataFolder } from '../../../fixture/data-folder.js';

t.test('an embedded database that keeps ending is started again so often, and then given up', async (t) => {
  const dataDir = await dataFolder(t);
  const ends: string[] = [];
  const over = Promise.withResolvers<string>();
  const server = await connectDatabase({
    ...{ dataDir, exclusive: true, settings: ['fsync=off', 'shared_buffers=32MB'] },
    restarts: {
      ended(reason) {
        ends.push(reason);
        if (ends.length > LIMITS.database_restarts) over.resolve('it is started once more');
      },
      started: () => over.resolve('it runs again'),
      gaveUp: over.resolve,
    },
  });
  t.teardown(() => server.stop());
  const { postmaster } = JSON.parse(await readFile(join(dataDir, 'running.json'), 'utf8')) as Running;
  const control = join(dataDir, 'postgres', 'global', 'pg_control');
  await rename(control, `${control}.away`); // no server starts without
  process.kill(postmaster, 'SIGKILL');
  t.match(await over.promise, /pg_control/, 'given up with the reason');
  t.equal(ends[0], 'it was ended by SIGKILL');
  t.equal(ends.length, LIMITS.database_restarts);
});
