import { randomInt } from 'node:crypto';
import { inspect } from 'node:util';
import { InvalidArgumentError } from 'commander';
import { splitCores } from '../kit/cores.js';
import { useOf } from '../kit/process-use.js';
import { number, reportOf, rows } from '../kit/report.js';
import { defineScenario, type OptionValues, type Report } from '../kit/scenario.js';
import type { Attack } from './abuse/attack.js';
import { ATTACKS, attackNamed } from './abuse/attacks.js';
import { type Fuzzed, fuzz, fuzzBreaches, fuzzLines } from './abuse/fuzz/run.js';
import { LIMITS } from './abuse/limits.js';
import { summaryLines, trialLines } from './abuse/lines.js';
import { KINDS } from './abuse/messages.js';
import { type Trial, tryAttack } from './abuse/trial.js';
import { type Verdict, verdictOf } from './abuse/verdict.js';
import { withAbuseWorld } from './abuse/world.js';

const OPTIONS = {
  attack: { means: 'attacks by name, separated by commas; "list" prints them', default: 'all' },
  seconds: { means: 'how long each attack lasts, and the neighbour is measured without it', default: 10 },
  rows: { means: 'events, deliveries and operations of the workspace whose lists are read', default: 100_000 },
  ratio: { means: "the neighbour's p99 under attack, as a multiple of that alone", default: 2, fraction: true },
  p99Ms: { means: 'the same in milliseconds', default: 50 },
  grownMib: { means: "what the service's memory may grow by under attack", default: 512 },
  leakedMib: { means: 'what of it may stay', default: 64 },
  fuzz: { means: 'instead of attacks, crafted inputs of this seed to every route; "new" makes one', default: '' },
  fresh: { means: 'a new service and database for each attack', default: false },
};
type Options = OptionValues<typeof OPTIONS>;

const NOT_MEASURED = [
  'a network: attacker, neighbour, service and PostgreSQL share this machine, and nothing leaves it',
  'an attacker of its own machine: on two cores attacker and neighbour share one, where the attacker is the less preferred process, and the service and PostgreSQL the other; so an attack is weaker than it could be, and what PostgreSQL works for it slows the service as well',
  'sessions that the service holds while the database has nothing to do for them: what is counted is in a statement or a transaction, ten times a second',
  'browsers and the provider: the connections are simulated',
  'leaks below the noise of the allocator: the garbage of every thread is collected before both readings, but what a first time allocates for good counts as having stayed',
  'a p99 of few: a neighbour has five waits and five callbacks a second, so in a short run their p99 is their longest',
];

const FUZZ_LEAVES_OUT = [
  'bytes that are no HTTP: the client sends whole requests (`test/fuzz/` has the others)',
  'what the inputs cost others: nothing else is at work',
];

/** A greedy tenant, or strangers without a key, at full force on one thing after the other, beside a neighbour with a light load. */
export const abuse = defineScenario({
  name: 'abuse',
  summary: 'what greedy tenants and strangers at full force cost a neighbour, and the service',
  options: OPTIONS,
  startsService: true,
  async run(options, say) {
    if (options.fuzz !== '') return fuzzReport(options, await fuzz(seedOf(options.fuzz), options.seconds, say));
    const attacks = attacksNamed(options.attack);
    const cores = splitCores();
    const trials: Trial[] = [];
    const untried: string[] = [];
    const tryIn = (some: readonly Attack[]) =>
      withAbuseWorld({ cores }, async (world) => {
        say('warming up');
        await world.neighbour.ask({ type: 'measure', seconds: options.seconds }, 'measured', 600_000);
        for (const attack of some) {
          say(`${attack.name}: ${attack.means}`);
          try {
            const trial = await tryAttack(world, attack, { ...options, cores });
            say(`  ${verdictOf(trial, boundsOf(options)).breaches.join('; ') || 'held'}`);
            trials.push(trial);
          } catch (error) {
            untried.push(`${attack.name}: ${inspect(error)}`);
            if (!useOf(world.service.pid)) return;
            say(`  ${untried.at(-1)}`);
          }
        }
      });
    say('starting the service and the neighbour');
    if (options.fresh) for (const attack of attacks) await tryIn([attack]);
    else await tryIn(attacks);
    return report(options, trials, untried, cores !== null);
  },
});

function attacksNamed(names: string): Attack[] {
  if (names === 'all') return [...ATTACKS];
  return names.split(',').map((name) => {
    const found = attackNamed(name.trim());
    if (found) return found;
    throw new InvalidArgumentError(ATTACKS.map((attack) => `${attack.name}: ${attack.means}`).join('\n'));
  });
}

function seedOf(text: string): number {
  if (text === 'new') return randomInt(2 ** 31);
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('--fuzz wants a whole number, or new.');
}

function fuzzReport(options: Options, fuzzed: Fuzzed): Promise<Report> {
  const breaches = fuzzBreaches(fuzzed);
  return reportOf({
    scenario: 'abuse',
    options,
    method:
      'crafted inputs of a seed to every route, one after the other; answers and the health of the service are judged',
    lines: fuzzLines(fuzzed),
    costs: 'inputs are crafted to differ: most are refused, and what one costs says nothing of the next',
    ratios: 'nothing but the answers is judged',
    notMeasured: FUZZ_LEAVES_OUT,
    data: { fuzzed },
    faults: breaches.slice(0, LIMITS.printed_breaches),
  });
}

const boundsOf = ({ ratio, p99Ms, grownMib, leakedMib }: Options) => ({
  ...{ ratio, p99_ms: p99Ms, grown_mib: grownMib, leaked_mib: leakedMib },
});

/** The worst of the neighbour's kinds of requests. */
function ratioOf({ attack, alone, under }: Trial): string {
  const worst = Math.max(...KINDS.map((kind) => under.kinds[kind].p99_ms / Math.max(1, alone.kinds[kind].p99_ms)));
  return `${number(worst, 1)} of the neighbour's p99 alone, at the worst: ${attack}`;
}

const dueIn = ({ alone, under }: Trial): number =>
  KINDS.reduce((sum, kind) => sum + alone.kinds[kind].due + under.kinds[kind].due, 0);

function report(options: Options, trials: Trial[], untried: string[], split: boolean): Promise<Report> {
  const judged = trials.map((trial): { trial: Trial; verdict: Verdict } => ({
    ...{ trial, verdict: verdictOf(trial, boundsOf(options)) },
  }));
  const bounds = `p99 within ${options.ratio} x and ${options.p99Ms} ms (near: one of the two), memory within ${options.grownMib} MiB, ${options.leakedMib} of it staying`;
  return reportOf({
    scenario: 'abuse',
    options,
    method: "a neighbour's light load, due at fixed times and timed from then, alone and beside each attack",
    lines: [
      ...judged.flatMap(({ trial, verdict }) => trialLines(trial, verdict)),
      ...summaryLines(judged),
      ...rows([
        ['bounds', bounds],
        ['latency', 'p50 / p99 / longest, from the time at which a request was due'],
        ['cores', split ? 'one for attacker and neighbour, the others for service and database' : 'shared by all'],
      ]),
    ],
    costs:
      'an attack and the neighbour share the service, whose processor time cannot be told apart; some attacks get no answers',
    ratios: judged.flatMap(({ trial }) => ratioOf(trial)),
    sampled: `${number(judged.reduce((sum, { trial }) => sum + dueIn(trial), 0))} requests of the neighbour, in one round alone and one under each attack`,
    notMeasured: NOT_MEASURED,
    data: { trials: judged.map(({ trial, verdict }) => ({ ...trial, verdict })), untried },
    faults: [
      ...judged.flatMap(({ trial, verdict }) => verdict.breaches.map((breach) => `${trial.attack}: ${breach}`)),
      ...untried,
    ],
  });
}
