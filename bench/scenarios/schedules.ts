import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { connectDatabase } from '../../storage/postgres/embedded/embedded.js';
import { migrate } from '../../storage/schema/migrate.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario } from '../kit/scenario.js';
import { TemporaryFolder } from '../kit/temporary-folder.js';
import { type Found, Machine, search } from './schedules/machine.js';

const OPTIONS = {
  count: { means: 'schedules that are played', default: 20_000 },
  seed: { means: 'the same seed plays the same schedules', default: 1 },
  path: { means: 'of a schedule that failed: plays it alone, as short as it was made', default: '' },
  without: { means: 'commands and kinds of faults that are not to occur, with commas between them', default: '' },
};

const METHOD =
  'the operations of two nodes in one process, on one PostgreSQL; each statement, hint and wait is a step, and fast-check draws which comes next';
const NOT_MEASURED = [
  'callbacks, events, listeners and browsers: they are not played',
  'what a clock decides: leases end, and waits are over, by steps',
  'a crash of the database, but for the loss of what runs of one connection',
];

/** Whether any order of the steps of two nodes loses, sticks, repeats or reorders an operation. */
export const schedules = defineScenario({
  name: 'schedules',
  summary: 'whether any order of what two nodes do loses, sticks, repeats or reorders an operation',
  options: OPTIONS,
  async run(options, say) {
    say(`seed ${options.seed}`);
    await mkdir('.data', { recursive: true });
    await using folder = new TemporaryFolder(join(process.cwd(), '.data/bench-'));
    // Nothing is killed here: what a crash of the machine would lose is not the subject.
    const server = await connectDatabase({ dataDir: folder.path, exclusive: true, settings: ['fsync=off'] });
    try {
      await migrate(server.url);
      await using machine = await Machine.open(server.url);
      const since = performance.now();
      let played = 0;
      let per_s = 0;
      const found = await search(machine, {
        ...{ count: options.count, seed: options.seed, without: options.without.split(',') },
        ...(options.path !== '' && { path: options.path }),
        played: (schedules) => {
          played = schedules;
          per_s = played / ((performance.now() - since) / 1000);
          if (schedules % 100 === 0) say(`${schedules} schedules, ${number(per_s, 1)} a second`);
        },
        broke: (after, broken) =>
          say(`schedule ${after} is broken, and is made shorter: ${broken.breaches.join('; ')}`),
      });
      const faults = found ? [faultText(found)] : [];
      return await reportOf({
        scenario: 'schedules',
        options,
        method: METHOD,
        lines: rows([
          ['schedules', `${number(played)}, ${number(per_s, 1)} a second`],
          ['steps', number(machine.steps)],
          ['broken', found ? `after ${found.after}` : 'none'],
        ]),
        costs: 'what a statement costs is not asked here',
        ratios: 'what was promised is the measure',
        sampled: `${played} schedules`,
        notMeasured: NOT_MEASURED,
        data: { played, per_s, found: found ? { ...found, broken: found.broken.breaches } : null },
        faults,
      });
    } finally {
      await server.stop();
    }
  },
});

function faultText({ after, seed, path, broken }: Found): string {
  return `schedule ${after} is broken; play it again with --seed ${seed} --path ${path}\n${broken.message}`;
}
