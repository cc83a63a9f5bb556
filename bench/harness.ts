import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { endChildrenOnSignal } from './kit/end-children.js';
import { pageOf } from './kit/page/page.js';
import { profileFiles, profileServices } from './kit/profile.js';
import { Voice } from './kit/progress.js';
import { flagName, type OptionValue, type Scenario } from './kit/scenario.js';
import { abuse } from './scenarios/abuse.js';
import { browser } from './scenarios/browser.js';
import { chaos } from './scenarios/chaos.js';
import { compareOf } from './scenarios/compare.js';
import { consoles } from './scenarios/consoles.js';
import { deliveries } from './scenarios/deliveries.js';
import { endToEnd } from './scenarios/end-to-end.js';
import { fleet } from './scenarios/fleet.js';
import { growth } from './scenarios/growth.js';
import { isolation } from './scenarios/isolation.js';
import { listeners } from './scenarios/listeners.js';
import { lists } from './scenarios/lists.js';
import { mixed } from './scenarios/mixed.js';
import { mutate } from './scenarios/mutate.js';
import { nodes } from './scenarios/nodes.js';
import { overload } from './scenarios/overload.js';
import { peers } from './scenarios/peers.js';
import { poll } from './scenarios/poll.js';
import { retention } from './scenarios/retention.js';
import { rolling } from './scenarios/rolling.js';
import { schedule } from './scenarios/schedule.js';
import { schedules } from './scenarios/schedules.js';
import { soak } from './scenarios/soak.js';
import { start } from './scenarios/start.js';
import { stockOf } from './scenarios/stock.js';
import { submit } from './scenarios/submit.js';
import { tuneOf } from './scenarios/tune.js';
import { wait } from './scenarios/wait.js';

/** The bench harness: `npm run bench` lists the scenarios, `npm run bench -- <scenario>` runs one (README.md). */
const MEASURING: Scenario[] = [
  submit,
  endToEnd,
  poll,
  wait,
  consoles,
  mixed,
  peers,
  growth,
  nodes,
  lists,
  deliveries,
  isolation,
  schedule,
  browser,
  listeners,
  fleet,
  overload,
  abuse,
  chaos,
  schedules,
  soak,
  retention,
  rolling,
  start,
];
const SCENARIOS: Scenario[] = [...MEASURING, mutate, compareOf(MEASURING), stockOf(MEASURING), tuneOf(MEASURING)];

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It wants a whole number from 1.');
}

function decimalNumber(text: string): number {
  const value = /^\d{1,7}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new InvalidArgumentError('It wants a number above 0.');
}

/** The options of a scenario as flags, by their names. */
function flagsOf({ options }: Scenario): Map<string, Option> {
  return new Map(
    Object.entries(options).map(([name, { means, default: value, fraction, none }]) => {
      const flag = flagName(name);
      if (typeof value === 'string') return [name, new Option(`--${flag} <text>`, means).default(value)];
      if (typeof value === 'boolean') return [name, new Option(`--${flag}`, means).default(value)];
      const number = fraction ? decimalNumber : wholeNumber;
      const parser = none ? (text: string) => (text === '0' ? 0 : number(text)) : number;
      return [name, new Option(`--${flag} <n>`, means).argParser(parser).default(value)];
    }),
  );
}

/** What every scenario takes beside its own options. */
interface Output {
  json: boolean;
  html?: string;
  profile?: boolean;
}

async function runScenario(scenario: Scenario, values: Record<string, OptionValue>, output: Output): Promise<void> {
  const voice = new Voice((line) => process.stderr.write(`${line}\n`));
  const { say } = voice;
  if (output.profile) await profileServices();
  const report = await scenario.run(values, say).finally(() => voice.stop());
  for (const fault of report.faults) say(fault);
  if (report.faults.length > 0) process.exitCode = 1;
  for (const file of await profileFiles()) say(`profile: ${file}`);
  if (output.html !== undefined) {
    await writeFile(output.html, await pageOf({ title: `bench: ${scenario.name}`, ...report }));
    say(`page: ${output.html}`);
  }
  process.stdout.write(output.json ? `${JSON.stringify(report.data)}\n` : `${report.text}\n`);
}

/** Runs what the command line names. */
export async function runBench(): Promise<void> {
  const program = benchProgram();
  if (process.argv.length < 3) return program.outputHelp();
  const ending = endChildrenOnSignal();
  await program.parseAsync().catch((error) => {
    if (!ending.aborted) throw error;
  });
  // What a scenario has left behind must not keep the process once its report is out.
  if (!ending.aborted) process.stdout.write('', () => process.exit());
}

function benchProgram(): Command {
  const program = new Command('bench')
    .description('Runs the real service as a child process and measures it from outside.')
    .addHelpText('after', '\nExample: npm run bench -- submit --seconds 20 --connections 128');
  for (const scenario of SCENARIOS) {
    const command = program.command(scenario.name).description(scenario.summary);
    const flags = flagsOf(scenario);
    for (const flag of flags.values()) command.addOption(flag);
    command.option('--json', 'print one JSON object instead of a report', false);
    command.option('--html <file>', 'write the report with its plots into a file of its own');
    if (scenario.startsService) command.option('--profile', 'write a CPU profile of every thread of the service');
    command.action(async (parsed: Record<string, OptionValue> & Output) => {
      const values = [...flags].map(([name, flag]) => [name, parsed[flag.attributeName()] as OptionValue]);
      try {
        await runScenario(scenario, Object.fromEntries(values), parsed);
      } catch (error) {
        if (error instanceof InvalidArgumentError) command.error(error.message);
        throw error;
      }
    });
  }
  return program;
}
