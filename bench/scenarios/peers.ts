import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { TemporaryFolder } from '../kit/temporary-folder.js';
import { costsOf, type Figures, type FiguresByName, type Goal, goalsOf, mediansOf } from '../peers/figures.js';
import { measureInserts } from '../peers/insert.js';
import { installPeers, installPrograms } from '../peers/install.js';
import { startOurs } from '../peers/ours.js';
import { PEERS, type Peer, startPeer } from '../peers/peer.js';
import { measureTurn, type Turn } from '../peers/turn.js';

const isPeer = (name: string): name is Peer => name in PEERS;
const NAMES = ['ours', ...Object.keys(PEERS), 'insert'];

const OPTIONS = {
  only: { means: 'which are measured, in this order', default: NAMES.join(',') },
  seconds: { means: 'how long each is sent submissions, and then polls', default: 10 },
  rounds: { means: 'how often each has its turn; the medians count', default: 3 },
  connections: { means: 'HTTP connections of the client; connections to PostgreSQL of the plain INSERTs', default: 64 },
  warmup: { means: 'seconds before each measurement', default: 5 },
};
type Options = OptionValues<typeof OPTIONS>;

const METHOD =
  'each begins on an empty store of its own and is sent submissions in a closed loop until the time is over; rate, processor time and log are taken from the first submission to the last end, then polls are sent';

const NOT_MEASURED = [
  'work: operations do nothing, so that what is left is the cost of taking, queueing, ending and reading them',
  'a network: client, servers and stores share this machine, so the client costs them cores',
  'what a peer does not do: order within a connection, keys and scopes, encrypted inputs, timelines, attempts, a fence against former owners',
  'a BullMQ that refuses another input under a used key: it answers as if it had taken it',
  'several nodes: each runs as its users start it on one machine, a process that serves and one that executes; the service is one process',
];

/** The service beside servers that its users might have written instead, one after the other, so that a ratio can be told. */
export const peers = defineScenario({
  name: 'peers',
  summary: 'submissions, ends, polls and processor time beside servers on pg-boss, graphile-worker and BullMQ',
  options: OPTIONS,
  async run(options, say) {
    const names = namesOf(options.only);
    const bullmq = names.includes('bullmq');
    await installPrograms(bullmq ? ['wrk', 'redis-server'] : ['wrk'], say);
    const programs = names.some(isPeer) ? await installPeers(say) : '';
    const turns: Turn[] = [];
    for (let round = 1; round <= options.rounds; round++) {
      const figures: FiguresByName = {};
      const faults: string[] = [];
      for (const name of names) {
        say(`round ${round} of ${options.rounds}: ${name}`);
        const turn = await takeTurn(name, programs, options);
        Object.assign(figures, turn.figures);
        faults.push(...turn.faults.map((fault) => `round ${round}, ${fault}`));
      }
      turns.push({ figures, faults });
    }
    return report(options, turns);
  },
});

function namesOf(only: string): string[] {
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown === undefined) return names;
  throw new InvalidArgumentError(`--only takes ${NAMES.join(', ')}; ${JSON.stringify(unknown)} is none of them`);
}

/** Everything is begun anew for a turn and deleted after it: none works on what another one left in a table. */
async function takeTurn(name: string, programs: string, options: Options): Promise<Turn> {
  if (name === 'insert') return { figures: { insert: await measureInserts(options) }, faults: [] };
  await mkdir('.data', { recursive: true });
  await using folder = new TemporaryFolder(join(process.cwd(), '.data/bench-peer-'));
  await using subject = isPeer(name) ? await startPeer(name, programs, folder.path) : await startOurs();
  return await measureTurn(subject, { ...options, folder: folder.path });
}

function report(options: Options, turns: Turn[]): Promise<Report> {
  const measured = turns.map((turn) => turn.figures);
  const [figures, goals] = [mediansOf(measured), goalsOf(measured)];
  return reportOf({
    scenario: 'peers',
    options,
    method: METHOD,
    lines: [
      ...tableOf(figures),
      '',
      ...rows([
        [
          'load',
          `${options.connections} connections of wrk for ${options.seconds} s; medians of the rounds, of ratios those within a round`,
        ],
        ['ended', 'operations a second, from the first submission until the last has ended'],
        ['B', "bytes that PostgreSQL's tables and indexes take for an operation"],
        ['cost', 'of a peer the servers stand under service, and the store of BullMQ, Redis, under PostgreSQL'],
      ]),
    ],
    costs: costsOf(measured),
    ratios: goals.length > 0 ? goals.map(goalLine) : 'no goal compares these',
    sampled: `${number(turns.length)} ${turns.length === 1 ? 'round' : 'rounds'}, each of all in turn`,
    notMeasured: NOT_MEASURED,
    data: { figures, goals, rounds: measured },
    faults: turns.flatMap(({ faults }) => faults),
  });
}

const COLUMNS: [head: string, figure: keyof Figures, decimals: number][] = [
  ['submit/s', 'submit_per_s', 0],
  ['p50 ms', 'p50_ms', 1],
  ['p99 ms', 'p99_ms', 1],
  ['ended/s', 'ended_per_s', 0],
  ['poll/s', 'poll_per_s', 0],
  ['stored B', 'stored_bytes', 0],
];

function tableOf(figures: FiguresByName): string[] {
  const line = (name: string, cells: string[]) => name.padEnd(16) + cells.map((cell) => cell.padStart(10)).join('');
  const cell = (value: number | undefined, decimals: number) => (value === undefined ? '' : number(value, decimals));
  return [
    line(
      '',
      COLUMNS.map(([head]) => head),
    ),
    ...Object.entries(figures).map(([name, one]) =>
      line(
        name,
        COLUMNS.map(([, figure, decimals]) => cell(one[figure], decimals)),
      ),
    ),
  ];
}

const goalLine = ({ goal, measured, met }: Goal) =>
  `${met ? 'met' : 'MISSED'}: ${goal}: ${number(measured, measured < 100 ? 2 : 0)}`;
