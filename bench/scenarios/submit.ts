import { operationCounts } from '../../storage/partitions/inspection.js';
import { runProgram } from '../program.js';
import { number, reportOf, rows } from '../report.js';
import { defineScenario, type OptionValues, type Report } from '../scenario.js';
import { type BenchService, startService } from '../service.js';
import { insertBaseline } from '../submit/baseline.js';
import type { Load, LoadResult } from '../submit/load.js';

/** Inputs that each capability accepts; others are given with --input. */
const INPUTS: Record<string, Record<string, unknown>> = {
  'social.identity.get': {},
  'social.profile.get': { profile_id: 'ada-lovelace' },
  'social.connections.list': { count: 25 },
  'social.people.search': { keywords: 'engineer', count: 10 },
  'social.message.send': { recipient_actor_id: 'ada-lovelace', body: 'Hello' },
};

const OPTIONS = {
  seconds: { means: 'how long to measure, each of the two', default: 10 },
  connections: { means: 'HTTP connections of the client, one request at a time each', default: 64 },
  capability: { means: 'what is submitted', default: 'social.profile.get' },
  input: { means: 'its input as JSON, when it is none of the usual ones', default: '' },
  simulatedConnections: { means: 'connections of the service that take the operations', default: 256 },
  warmup: { means: 'seconds before measuring', default: 2 },
  baselineConnections: { means: 'PostgreSQL connections of the baseline', default: 32 },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'browsers and the provider: the connections are simulated',
  'callbacks, polling and reads',
  'a network: client, service and PostgreSQL share this machine, so the client costs the service cores',
  'an open arrival rate: each client waits for its answer before it sends again, so a slow service gets fewer requests',
];

/**
 * How many submissions a second the service accepts, beside how many plain INSERT transactions the same PostgreSQL
 * takes into the same table: what durability costs here, with and without batching.
 */
export const submit = defineScenario({
  name: 'submit',
  summary: 'accepted submissions a second, against single-row INSERT transactions into the same table',
  options: OPTIONS,
  async run(options, say) {
    const input = options.input === '' ? INPUTS[options.capability] : (JSON.parse(options.input) as object);
    if (!input) throw new Error(`${options.capability} needs --input`);
    say('starting the service');
    await using service = await startService();
    const connectionIds = await service.createSimulated(options.simulatedConnections);
    const drive = (run: string, seconds: number): Promise<LoadResult> => {
      const load: Load = {
        url: service.addresses.url,
        key: service.key,
        run,
        seconds,
        clients: options.connections,
        connectionIds,
        body: JSON.stringify({ capability: options.capability, input }),
      };
      return runProgram('./submit/load.js', load);
    };
    say(`warming up for ${options.warmup} s, then measuring for ${options.seconds} s`);
    await drive('warmup', options.warmup);
    const before = await counts(service);
    const measured = await drive('measured', options.seconds);
    const after = await counts(service);
    say('stopping the service; its database stays for the baseline');
    await service.stop();
    const baseline = await service.withDatabase((url) =>
      insertBaseline({ url, connectionIds, seconds: options.seconds, connections: options.baselineConnections }),
    );
    return report(options, measured, after.executed - before.executed, after.waiting, baseline);
  },
});

async function counts(service: BenchService): Promise<{ executed: number; waiting: number }> {
  return service.withDatabase(async (_, db) => {
    const byStatus = await operationCounts(db);
    const waiting = (byStatus.queued ?? 0) + (byStatus.running ?? 0);
    return { waiting, executed: Object.values(byStatus).reduce((sum, count) => sum + count, 0) - waiting };
  });
}

function report(
  options: Options,
  measured: LoadResult,
  executed: number,
  waiting: number,
  baseline: { perSecond: number; inserted: number; seconds: number },
): Promise<Report> {
  const perSecond = measured.accepted / measured.seconds;
  const ratio = perSecond / baseline.perSecond;
  const { p50_ms, p99_ms, max_ms } = measured;
  const errors = Object.entries(measured.errors).map(([what, count]) => `${number(count)} × ${what}`);
  if (measured.refused.count > 0) errors.push(`${number(measured.refused.count)} × status 503`);
  return reportOf({
    scenario: 'submit',
    options,
    lines: rows([
      [
        'accepted',
        `${number(perSecond)} submissions/s (${number(measured.accepted)} answers 202 in ${number(measured.seconds, 1)} s)`,
      ],
      ['latency', `p50 ${number(p50_ms, 1)} ms, p99 ${number(p99_ms, 1)} ms, longest ${number(max_ms, 1)} ms`],
      ['errors', errors.join(', ') || 'none'],
      ['executed', `${number(executed)} operations ended while measuring, ${number(waiting)} waited at the end`],
      [
        'baseline',
        `${number(baseline.perSecond)} single-row INSERTs/s (${number(baseline.inserted)} in ${number(baseline.seconds, 1)} s)`,
      ],
      ['ratio', `${number(ratio, 2)} submissions for each INSERT`],
      ['load', `${options.connections} clients, ${options.capability}, ${options.simulatedConnections} connections`],
      ['', `baseline over ${options.baselineConnections} PostgreSQL connections, the service stopped`],
    ]),
    notMeasured: NOT_MEASURED,
    data: { perSecond, ...measured, executed, waiting, baseline, ratio },
  });
}
