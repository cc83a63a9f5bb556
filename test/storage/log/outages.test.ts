import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

const STORAGE = new URL('../../../storage', import.meta.url).href;

interface Line {
  level: number;
  time: number;
  msg: string;
  lasted_ms?: number;
}

/** What a process logs that runs this, with `log`, `outages` and the errors of statements in reach. */
async function logged(level: string, program: string): Promise<Line[]> {
  const script = `
    import { createLogger } from '${STORAGE}/log/log.js';
    import { Outages } from '${STORAGE}/log/outages.js';
    import { AnswerLost, NotCommitted, NotSent } from '${STORAGE}/postgres/liveness.js';
    import pg from 'pg';
    const log = createLogger({ level: '${level}', format: 'json' }, {});
    const outages = new Outages(log);
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${program}`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL(STORAGE),
    env: { PATH: process.env.PATH },
  });
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

t.test('what the database did not answer is left to debug, any other failure is told', async (t) => {
  const program = `
    const refused = new pg.DatabaseError('refused', 1, 'error');
    for (const err of [new NotSent(refused), new AnswerLost(refused), new NotCommitted(refused)]) log.error({ err }, 'away');
    log.child({ pool: 'one' }).warn({ err: new NotSent(refused) }, 'away');
    for (const err of [refused, new Error('read ECONNREFUSED')]) log.error({ err }, 'other');
    log.fatal({ err: new NotSent(refused) }, 'fatal');
    log.info('away');`;
  // A fatal line goes past what is being written: lines of one moment have no order.
  const told = (await logged('info', program)).map(({ level, msg }) => `${level} ${msg}`).sort();
  t.strictSame(told, ['30 away', '50 other', '50 other', '60 fatal']);
  const all = await logged('debug', program);
  t.equal(all.filter(({ level, msg }) => level === 20 && msg === 'away').length, 4, 'debug has them');
});

t.test(
  'an outage is one line at its begin and one at its end, whichever pools see it, and however they flicker',
  async (t) => {
    const told = await logged(
      'info',
      `const [one, two] = [outages.pool('one'), outages.pool('two')];
    two.ended(5); // knows of none
    one.began(new Error('first'));
    two.began(new Error('second'));
    one.ended(1);
    await wait(300);
    two.ended(1);
    await wait(200);
    two.began(new Error('again')); // before it counts as over
    two.ended(1);
    if (outages.away || outages.total !== 1) throw new Error('it is over, and was one');
    await wait(2_500);
    one.began(new Error('another'));`,
    );
    t.match(told, [
      { level: 50, pool: 'one', reason: 'first', msg: 'database: it cannot be reached' },
      { level: 40, msg: 'database: it can be reached again' },
      { level: 50, pool: 'one', reason: 'another', msg: 'database: it cannot be reached' },
    ]);
    t.equal(told.length, 3);
    const [began, ended] = told;
    const { lasted_ms = Number.NaN } = ended ?? {};
    t.ok(lasted_ms >= 490, `${lasted_ms} ms`);
    const told_ms = (ended?.time ?? 0) - (began?.time ?? 0);
    t.ok(lasted_ms < told_ms - 500, 'the last that could not reach it ends it, not the wait for others');
  },
);
