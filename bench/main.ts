import { Command, InvalidArgumentError } from 'commander';
import type { Scenario } from './scenario.js';
import { browser } from './scenarios/browser.js';
import { deliveries } from './scenarios/deliveries.js';
import { fleet } from './scenarios/fleet.js';
import { isolation } from './scenarios/isolation.js';
import { listeners } from './scenarios/listeners.js';
import { lists } from './scenarios/lists.js';
import { schedule } from './scenarios/schedule.js';
import { submit } from './scenarios/submit.js';

/** The bench harness: `npm run bench` lists the scenarios, `npm run bench -- <scenario>` runs one (README.md). */
const SCENARIOS: Scenario[] = [submit, lists, deliveries, isolation, schedule, browser, listeners, fleet];

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It wants a whole number from 1.');
}

const program = new Command('bench')
  .description('Runs the real service as a child process and measures it from outside.')
  .addHelpText('after', '\nExample: npm run bench -- submit --seconds 20 --connections 128');
for (const scenario of SCENARIOS) {
  const command = program.command(scenario.name).description(scenario.summary);
  for (const option of scenario.options) {
    if (typeof option.default === 'number') {
      command.option(`${option.flag} <n>`, option.means, wholeNumber, option.default);
    } else command.option(`${option.flag} <text>`, option.means, option.default);
  }
  command.option('--json', 'print one JSON object instead of a report', false).action(async (given) => {
    const { json, ...options } = given as { json: boolean } & Record<string, string | number>;
    const report = await scenario.run(options, (line) => process.stderr.write(`${line}\n`));
    for (const fault of report.faults ?? []) process.stderr.write(`${fault}\n`);
    if (report.faults?.length) process.exitCode = 1;
    process.stdout.write(json ? `${JSON.stringify(report.data)}\n` : `${report.text}\n`);
  });
}
if (process.argv.length < 3) program.outputHelp();
else await program.parseAsync();
