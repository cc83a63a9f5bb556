import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportOf, rows, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues } from '../kit/scenario.js';
import { spreadOf } from '../kit/spread.js';
import { type Start, Starts } from './start/starts.js';

const OPTIONS = {
  starts: { means: 'starts of each kind, on a database that exists', default: 10 },
  first: { means: 'first starts of all, each on a DATA_DIR that is new', default: 3 },
  connections: { means: 'connections with operations that wait, for the starts amid work', default: 256 },
  from: { means: 'a built checkout of another version, whose starts alternate with those of this one', default: '' },
};

const THIS = fileURLToPath(new URL('../../server/main.js', import.meta.url));

const METHOD =
  "from the start of the service's process to the first 200 of /readyz, asked every few milliseconds, with the embedded database and the stand-in network; processor time as the kernel has it by then; versions and kinds in turns";
const NOT_MEASURED = [
  'npm, the compiler and the search for a browser, which `npm start` has before',
  'the embedded PostgreSQL’s processor time',
  'the first social operation, which starts the browser',
];

/** What the starts of one version took, by their kind. */
interface Measured {
  first: Start[];
  again: Start[];
  amid: Start[];
}

/** How long a start takes until the service is ready, and what it takes of the processor. */
export const start = defineScenario({
  name: 'start',
  summary: "from the process's start to ready: the first of all, with a database that exists, and amid work",
  options: OPTIONS,
  async run(options, say) {
    const measured: Measured[] = [];
    for (const program of programsOf(options.from)) {
      say(`first starts of ${program}`);
      measured.push({ first: await firstStarts(program, options.first), again: [], amid: [] });
    }
    await alternate(options, measured, say);
    return reportOf(findings(options, measured));
  },
});

function programsOf(from: string): string[] {
  if (from === '') return [THIS];
  const other = resolve(from, 'dist/server/main.js');
  if (!existsSync(other)) throw new Error(`--from ${from}: it has no dist/server/main.js; build it`);
  return [THIS, other];
}

async function firstStarts(program: string, count: number): Promise<Start[]> {
  const starts: Start[] = [];
  for (let number = 0; number < count; number++) {
    await using one = new Starts(program);
    starts.push(await one.next());
  }
  return starts;
}

async function alternate(
  { starts, connections, from }: OptionValues<typeof OPTIONS>,
  measured: Measured[],
  say: (line: string) => void,
): Promise<void> {
  const versions = programsOf(from).map((program, place) => ({
    ...{ quiet: new Starts(program), busy: new Starts(program) },
    found: measured[place] as Measured,
  }));
  try {
    for (const { quiet } of versions) await quiet.next(); // makes the database
    for (let number = 1; number <= starts; number++) {
      say(`start ${number} of ${starts}`);
      for (const { quiet, found } of versions) found.again.push(await quiet.next());
      for (const { busy, found } of versions) found.amid.push(await busy.amidWork(connections));
    }
  } finally {
    for (const { quiet, busy } of versions) for (const one of [quiet, busy]) await one[Symbol.asyncDispose]();
  }
}

function findings(options: OptionValues<typeof OPTIONS>, measured: Measured[]): Parameters<typeof reportOf>[0] {
  const lines = measured.flatMap(({ first, again, amid }, place) => [
    ...(measured.length > 1 ? [place === 0 ? 'this version' : options.from] : []),
    ...rows([
      ['first', words(first)],
      ['again', words(again)],
      ['amid work', words(amid)],
    ]),
    '',
  ]);
  const [own, other] = measured.map(({ again }) => spreadOf(again.map(({ ready_ms }) => ready_ms)).median);
  return {
    scenario: 'start',
    options,
    method: METHOD,
    lines,
    costs: 'no operation is measured',
    ratios:
      other === undefined || own === undefined
        ? 'name another version with --from'
        : [`${(own / other).toFixed(2)} of the time of ${options.from}`],
    sampled: `${options.starts} starts, ${options.first} first ones`,
    notMeasured: NOT_MEASURED,
    data: { measured },
  };
}

function words(starts: Start[]): string {
  const of = (part: keyof Start) => spreadOf(starts.map((one) => one[part]));
  const { ready_ms, service_s, network_s } = {
    ready_ms: of('ready_ms'),
    service_s: of('service_s'),
    network_s: of('network_s'),
  };
  return `ready after ${spreadText(ready_ms, 'ms')}; processor: service ${spreadText(service_s, 's', 2)}, network ${spreadText(network_s, 's', 2)}`;
}
