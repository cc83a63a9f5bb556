import { availableParallelism } from 'node:os';
import { Meter } from '../kit/cost/meter.js';
import { number, reportOf, rows, spreadText } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import { WORK, workKinds } from '../kit/work.js';
import type { LoadOrder } from '../load/messages.js';
import { faultsAmong } from '../load/round.js';
import { type Summary, summaryOf } from '../load/rounds.js';
import { type EndRound, runToEnd } from '../load/run-to-end.js';
import { bottleneckOf } from './nodes/bottleneck.js';
import { Cluster } from './nodes/cluster.js';

const OPTIONS = {
  nodes: { means: 'nodes at the most; each number from 1 is measured', default: 3 },
  seconds: { means: 'how long a round submits; it lasts until all has ended', default: 10 },
  rounds: { means: 'rounds of each', default: 3 },
  kind: { means: 'what is run: read or write', default: 'read' },
  connections: { means: 'connections of the service that the operations are spread over', default: 256 },
  clients: { means: 'HTTP connections of the client, spread over the nodes', default: 96 },
  warmup: { means: 'seconds before measuring', default: 3 },
};
type Options = OptionValues<typeof OPTIONS>;

/** Below this share of one node's rate, more nodes are slower. */
const SLOWER = 0.9;

const METHOD =
  'a node more is started on the same database, the partitions level out, and the same load is spread over all; the rate is what ended';
const NOT_MEASURED = [
  'machines of their own: all nodes, the database and the client share this one, so that nodes take cores from each other',
  'nodes that fail or restart: chaos and rolling do that',
  'an empty table each time: what the fewer nodes ran is still stored',
];

interface Measured {
  nodes: number;
  rounds: EndRound[];
  summary: Summary;
  ratio: number;
}

/** What further nodes on one database do to the rate and the cost of operations, and what they wait for. */
export const nodes = defineScenario({
  name: 'nodes',
  summary: 'operations a second with 1, 2, 3 nodes on one PostgreSQL, and what limits them',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    const [kind = 'read'] = workKinds(options.kind);
    await using cluster = new Cluster();
    say('starting the first node');
    await cluster.add();
    const connectionIds = await cluster.first.createSimulated(options.connections);
    return await cluster.first.withDatabase(async (_, db) => {
      const found: Measured[] = [];
      for (let count = 1; count <= options.nodes; count++) {
        if (count > 1) {
          say(`starting node ${count}`);
          await cluster.add();
        }
        const { metricsUrls } = cluster;
        const meter = await Meter.open(
          cluster.nodes.map(({ pid }) => pid),
          db,
        );
        const order = (run: string, seconds: number): LoadOrder => ({
          ...{ urls: cluster.nodes.map(({ addresses }) => addresses.url), key: cluster.first.key, run, seconds },
          ...{ kinds: ['submit'], body: JSON.stringify(WORK[kind]), connectionIds, operationIds: [] },
          clients: options.clients,
        });
        const run = (name: string, seconds: number) =>
          runToEnd(
            `${count} nodes, ${name}`,
            { metricsUrls, db, meter },
            order(`${count} nodes ${name}`, seconds),
            say,
          );
        await run('warmup', options.warmup);
        const rounds: EndRound[] = [];
        for (let round = 1; round <= options.rounds; round++) rounds.push(await run(`round ${round}`, options.seconds));
        const summary = summaryOf(rounds);
        const one = found[0]?.summary ?? summary;
        found.push({ nodes: count, rounds, summary, ratio: summary.per_second.median / one.per_second.median });
      }
      return report(options, found);
    });
  },
});

const nodesText = (nodes: number) => `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;

/** Microseconds an operation. */
const bothOf = ({ service_us, postgres_us }: Summary): number => service_us.median + postgres_us.median;

function report(options: Options, found: Measured[]): Promise<Report> {
  const cores = availableParallelism();
  const bottleneck = (one: Measured) => {
    const last = one.rounds.at(-1);
    return last ? bottleneckOf(last.usage, one.nodes, cores) : '';
  };
  const named = found.map((one) => ({ ...one, bottleneck: bottleneck(one) }));
  return reportOf({
    scenario: 'nodes',
    options,
    method: METHOD,
    lines: named.flatMap(({ nodes, summary, bottleneck }) => [
      `${nodesText(nodes)}:`,
      ...rows([
        ['rate', spreadText(summary.per_second, 'ends/s')],
        ['latency', `p50 ${spreadText(summary.p50_ms, 'ms', 1)}, p99 ${spreadText(summary.p99_ms, 'ms', 1)}`],
        ['limit', bottleneck],
      ]),
      '',
    ]),
    costs: Object.fromEntries(named.map(({ nodes, summary }) => [`end with ${nodesText(nodes)}`, summary])),
    ratios: named.slice(1).map(({ nodes, ratio }) => `${number(ratio, 2)} of one node's rate with ${nodesText(nodes)}`),
    notMeasured: NOT_MEASURED,
    data: { measured: named },
    plots: [
      {
        title: 'operations a second',
        x: { label: 'nodes', values: found.map((one) => one.nodes) },
        y: 'ends/s',
        series: (['median', 'min', 'max'] as const).map((name) => ({
          name,
          values: found.map(({ summary }) => summary.per_second[name]),
        })),
      },
      {
        title: 'processor time each',
        x: { label: 'nodes', names: found.map((one) => String(one.nodes)) },
        y: 'µs',
        series: [
          { name: 'service and PostgreSQL', values: found.map(({ summary }) => bothOf(summary)) },
          { name: 'PostgreSQL', values: found.map(({ summary }) => summary.postgres_us.median) },
        ],
      },
    ],
    faults: [
      ...found.flatMap(({ nodes, rounds }) =>
        rounds.flatMap(({ errors }) => faultsAmong(errors).map((e) => `${nodes}: ${e}`)),
      ),
      ...found.flatMap(({ nodes, ratio }) =>
        ratio < SLOWER ? [`${nodes} nodes are slower than one: ${number(ratio, 2)} of its rate`] : [],
      ),
    ],
  });
}
