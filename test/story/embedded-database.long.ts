import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../fixture/eventually.js';
import { startService } from '../fixture/service.js';

t.test(
  'an embedded database that dies is started again; one that keeps dying ends the process with one line',
  async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'embedded-'));
    t.teardown(() => rm(dataDir, { recursive: true, force: true }));
    const env = { DATA_DIR: dataDir, PORT: '0', METRICS_PORT: '0', LOG_FORMAT: 'json', LOG_LEVEL: 'warn' };
    const fixture = { env: { ...env, ACTOR_THREADS: '2', BROWSER_PATH: '/bin/false' } };
    const service = await startService(t, fixture as never);
    const lines = () =>
      service
        .stderr()
        .split('\n')
        .filter((line) => /"level":|^DATA_DIR/.test(line));
    const messages = () => lines().flatMap((line) => /"msg":"([^"]+)"/.exec(line)?.[1] ?? []);
    const postmaster = async () =>
      (JSON.parse(await readFile(join(dataDir, 'running.json'), 'utf8')) as { postmaster: number }).postmaster;
    const ready = async () => (await fetch(`${service.url}/readyz`)).status;
    const atFirst = messages();
    t.equal(await ready(), 200);

    const first = await postmaster();
    process.kill(first, 'SIGKILL');
    await eventually('the node is not ready', ready, (status) => status === 503);
    await eventually('it is ready again by itself', ready, (status) => status === 200);
    t.not(await postmaster(), first);
    await eventually('the outage is told', messages, (told) => told.includes('database: it can be reached again'));
    t.strictSame(
      messages().slice(atFirst.length).sort(),
      [
        'database: it can be reached again',
        'database: it cannot be reached',
        'database: the embedded one ended, and is started again',
        'database: the embedded one runs again',
      ],
      'and nothing else is',
    );
    t.match(service.stderr(), /"reason":"it was ended by SIGKILL","msg":"database: the embedded one ended/);

    const { keeper } = JSON.parse(await readFile(join(dataDir, 'running.json'), 'utf8')) as { keeper: number };
    process.kill(keeper, 'SIGKILL');
    const again = () => messages().filter((told) => told === 'database: the embedded one runs again').length;
    await eventually('without its keeper it is started again as well', again, (times) => times === 2);
    await eventually('the node is ready', ready, (status) => status === 200);

    const pid = await postmaster();
    const control = join(dataDir, 'postgres', 'global', 'pg_control');
    await rename(control, `${control}.away`); // no server starts without
    process.kill(pid, 'SIGKILL');
    await eventually(
      'the process gives up',
      () => service.process.exitCode,
      (code) => code !== null,
    );
    t.equal(service.process.exitCode, 1);
    // What a process wrote last may be read after its end.
    const reason = () => lines().filter((line) => line.startsWith('DATA_DIR'));
    t.match(await eventually('it says why', reason, ({ length }) => length > 0), [
      /^DATA_DIR: the embedded database keeps ending: .*pg_control/,
    ]);
  },
);
