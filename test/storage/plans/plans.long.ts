import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { postgresBinaries, SUPPORTED_VERSIONS } from '../../../bench/kit/postgres/binaries.js';
import { startPostgres } from '../../../bench/kit/postgres/server.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { migrate } from '../../../storage/schema/migrate.js';
import { findTurnedPlans } from './run.js';
import { HUGE, LARGE } from './sizes.js';

const { PLAN_VERSIONS = SUPPORTED_VERSIONS.join() } = process.env;

for (const version of SUPPORTED_VERSIONS.filter((one) => PLAN_VERSIONS.split(',').includes(String(one)))) {
  t.test(`no hot statement reads a table that grows on PostgreSQL ${version}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'plans-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const server = await startPostgres({
      binaries: await postgresBinaries(version),
      folder,
      settings: { fsync: 'off' },
    });
    t.teardown(() => server[Symbol.asyncDispose]());
    for (const large of [LARGE, HUGE]) {
      const url = await server.createOwner(`plans_${large.operations}`);
      await migrate(url);
      await using admin = opened(url);
      const findings = await findTurnedPlans({ admin, url, large, turned: true, say: (line) => t.comment(line) });
      t.strictSame(findings, [], `with ${large.operations} operations`);
    }
  });
}

function opened(url: string) {
  const db = openDatabase({ url, maxConnections: 1, applicationName: 'test', onError: () => {} });
  return { ...db, [Symbol.asyncDispose]: () => db.close() };
}
