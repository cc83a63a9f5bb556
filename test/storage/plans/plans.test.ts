import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { postgresBinaries } from '../../../bench/kit/postgres/binaries.js';
import { databaseChoice } from '../../../bench/kit/postgres/choice.js';
import { startPostgres } from '../../../bench/kit/postgres/server.js';
import { type Database, openDatabase } from '../../../storage/postgres/database.js';
import { migrate } from '../../../storage/schema/migrate.js';
import { freshDatabase } from '../../fixture/database.js';
import { findTurnedPlans } from './run.js';
import { LARGE } from './sizes.js';

/** A migrated database: of the suite's server, or of one of the version that `DATABASE` names, with its default settings. */
async function emptyDatabase(t: Test): Promise<{ url: string; db: Database }> {
  const choice = databaseChoice();
  if (choice === 'embedded') return freshDatabase(t);
  const folder = await mkdtemp(join(tmpdir(), 'plans-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const server = await startPostgres({ binaries: await postgresBinaries(choice), folder });
  t.teardown(() => server[Symbol.asyncDispose]());
  const url = await server.createOwner('plans');
  await migrate(url);
  const db = openDatabase({ url, maxConnections: 1, applicationName: 'test', onError: () => {} });
  t.teardown(() => db.close());
  return { url, db };
}

t.test('no hot statement reads a table that grows, whatever the tables were when it was planned', async (t) => {
  const { url, db } = await emptyDatabase(t);
  const findings = await findTurnedPlans({
    admin: db,
    url,
    large: LARGE,
    turned: false,
    say: (line) => t.comment(line),
  });
  t.strictSame(findings, []);
});
