import { spawnSync } from 'node:child_process';
import type { Test } from 'tap';

const PROMTOOL = process.env.PROMTOOL ?? 'promtool';

/** Has Prometheus' own tool judge this where the machine has it; elsewhere what the test checks by itself has to do. */
export function judgedByPromtool(t: Test, args: string[], options: { input?: string; cwd?: string } = {}): void {
  const { error, status, stdout, stderr } = spawnSync(PROMTOOL, args, { encoding: 'utf8', ...options });
  if (error) t.comment(`there is no promtool here: ${error.message}`);
  else t.equal(status, 0, `promtool ${args.join(' ')}: ${stdout}${stderr}`);
}
