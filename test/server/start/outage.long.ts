import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { eventually } from '../../fixture/eventually.js';
import { linkTo } from '../../fixture/link.js';
import { launch, readyLine, serviceFixture } from '../../fixture/service.js';

// Before the database is migrated, and before the node takes its partitions.
for (const step of ['schema: bringing it up to date', 'stand-in network: its regional proxies are in place']) {
  t.test(`a start goes on through an outage that begins with: ${step}`, async (t) => {
    const fixture = await serviceFixture(t, { BROWSER_PATH: '/bin/false', LOG_LEVEL: 'info' });
    const { link, url } = await linkTo(t, fixture.databaseUrl);
    const child = launch({ ...fixture.env, DATABASE_URL: url });
    const gone = once(child, 'exit');
    t.teardown(async () => {
      child.kill('SIGKILL');
      await gone;
    });
    const told: string[] = [];
    createInterface({ input: child.stderr!.pipe(new PassThrough()) }).on('line', (line) => {
      told.push(line);
      if (line.includes(`"msg":"${step}"`)) link.refuse();
    });
    const ready = readyLine(child);
    await eventually(
      'the start misses the database',
      async () => link.refused,
      (refused) => refused > 1,
    );
    link.accept();
    t.match(await ready, { url: /^http/ });
    t.ok(
      told.some((line) => line.includes(step)),
      told.join('\n'),
    );
    child.kill('SIGTERM');
    t.strictSame(await gone, [0, null]);
  });
}
