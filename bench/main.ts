import { Command, InvalidArgumentError, Option } from 'commander';
import type { OptionValue, Scenario } from './scenario.js';
import { browser } from './scenarios/browser.js';
import { chaos } from './scenarios/chaos.js';
import { deliveries } from './scenarios/deliveries.js';
import { fleet } from './scenarios/fleet.js';
import { isolation } from './scenarios/isolation.js';
import { listeners } from './scenarios/listeners.js';
import { lists } from './scenarios/lists.js';
import { overload } from './scenarios/overload.js';
import { rolling } from './scenarios/rolling.js';
import { schedule } from './scenarios/schedule.js';
import { soak } from './scenarios/soak.js';
import { submit } from './scenarios/submit.js';

/** The bench harness: `npm run bench` lists the scenarios, `npm run bench -- <scenario>` runs one (README.md). */
const SCENARIOS: Scenario[] = [
  submit,
  lists,
  deliveries,
  isolation,
  schedule,
  browser,
  listeners,
  fleet,
  overload,
  chaos,
  soak,
  rolling,
];

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
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
    Object.entries(options).map(([name, { means, default: value, fraction }]) => {
      const flag = name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      if (typeof value === 'string') return [name, new Option(`--${flag} <text>`, means).default(value)];
      if (typeof value === 'boolean') return [name, new Option(`--${flag}`, means).default(value)];
      const parser = fraction ? decimalNumber : wholeNumber;
      return [name, new Option(`--${flag} <n>`, means).argParser(parser).default(value)];
    }),
  );
}

async function runScenario(scenario: Scenario, values: Record<string, OptionValue>, json: boolean): Promise<void> {
  const report = await scenario.run(values, (line) => process.stderr.write(`${line}\n`));
  for (const fault of report.faults) process.stderr.write(`${fault}\n`);
  if (report.faults.length > 0) process.exitCode = 1;
  process.stdout.write(json ? `${JSON.stringify(report.data)}\n` : `${report.text}\n`);
}

const program = new Command('bench')
  .description('Runs the real service as a child process and measures it from outside.')
  .addHelpText('after', '\nExample: npm run bench -- submit --seconds 20 --connections 128');
for (const scenario of SCENARIOS) {
  const command = program.command(scenario.name).description(scenario.summary);
  const flags = flagsOf(scenario);
  for (const flag of flags.values()) command.addOption(flag);
  command.option('--json', 'print one JSON object instead of a report', false);
  command.action(async (parsed: Record<string, OptionValue> & { json: boolean }) => {
    const values = [...flags].map(([name, flag]) => [name, parsed[flag.attributeName()] as OptionValue]);
    try {
      await runScenario(scenario, Object.fromEntries(values), parsed.json);
    } catch (error) {
      if (error instanceof InvalidArgumentError) command.error(error.message);
      throw error;
    }
  });
}
if (process.argv.length < 3) program.outputHelp();
else {
  await program.parseAsync();
  // What a scenario has left behind must not keep the process once its report is out.
  process.stdout.write('', () => process.exit());
}
