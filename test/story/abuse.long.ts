import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { AT_LENGTH, sized } from '../fixture/size.js';

/**
 * The bench's scenario abuse: what it finds wrong with the service is wrong however fast the machine is. Latencies are the
 * bench's to judge.
 */
const SEED = process.env.FUZZ_SEED ?? `${randomInt(1_000_000_000)}`;
const ANY_LATENCY = ['--ratio', '1000000', '--p99-ms', '1000000'];
const BENCH = join(import.meta.dirname, '../../bench/main.js');

/** Runs the scenario as a command, with none of the hooks that tap loads into its children, and gives its report. */
async function abuse(t: Test, ...options: string[]): Promise<Record<string, unknown>> {
  const program = ['-i', `PATH=${process.env.PATH}`, process.execPath, BENCH, 'abuse', ...ANY_LATENCY, '--json'];
  const ran = promisify(execFile)('env', [...program, ...options]);
  // With a fault it ends with status 1, and its report is written all the same.
  const { stdout, stderr } = await ran.catch((error: { stdout: string; stderr: string }) => error);
  t.equal(ran.child.exitCode, 0, `no fault\n${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

// In the suite `server/http/strangers.test.ts` stands for it.
if (AT_LENGTH)
  t.test(
    'strangers at full force take neither memory nor metrics from the service, and get no 5xx but 503',
    async (t) => {
      const { trials } = await abuse(t, '--attack', 'methods', '--seconds', '5');
      t.match(trials, [{ attack: 'methods', healthy: true, unexpected: 0, under: { answers: { '2xx': Number } } }]);
    },
  );

t.test('crafted inputs to every route bring no 5xx, nothing of another tenant, no secret into the log', async (t) => {
  const { fuzzed } = await abuse(t, '--fuzz', SEED, '--seconds', sized('4', '20'));
  t.comment(`FUZZ_SEED=${SEED}`);
  const { statuses, inputs } = fuzzed as { statuses: Record<string, number>; inputs: number };
  t.ok(inputs >= 100, 'many were sent');
  for (const status of sized([200, 401], [200, 400, 401, 403, 404]))
    t.ok((statuses[status] ?? 0) > 0, `some were answered ${status}`);
});
