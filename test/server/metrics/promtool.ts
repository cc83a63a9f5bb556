import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Test } from 'tap';
import { unpacked } from '../../fixture/debian-packages.js';

const NAMED = process.env.PROMTOOL;
const DEBIAN = { name: 'promtool', packages: ['prometheus'], program: 'usr/bin/promtool', alone: true } as const;

/**
 * Has Prometheus' own tool judge this: the one that `PROMTOOL` names, the machine's, or else Debian's. Where none can be had, the test is
 * reported as skipped, with the reason. A tool that is there and does not start fails the test.
 */
export async function judgedByPromtool(
  t: Test,
  args: string[],
  options: { input?: string; cwd?: string } = {},
): Promise<void> {
  const { program = '', missing } = await promtool();
  await t.test(`promtool ${args.join(' ')}`, { skip: missing ?? false }, async (t) => {
    const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', ...options });
    t.error(error);
    t.equal(status, 0, `${stdout}${stderr}`);
  });
}

async function promtool(): Promise<{ program?: string; missing?: string }> {
  if (NAMED !== undefined) return { program: NAMED };
  if (spawnSync('promtool', ['--version']).error === undefined) return { program: 'promtool' };
  const found = await unpacked(DEBIAN);
  return 'missing' in found ? found : { program: join(found.folder, DEBIAN.program) };
}
