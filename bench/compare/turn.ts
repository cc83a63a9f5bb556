import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import typia from 'typia';
import type { Cost } from '../cost/cost.js';

const costsIn = typia.createIs<{ costs: Record<string, Cost> }>();

/**
 * Runs a scenario of a tree, as its command line would, and gives what an operation of each kind took. A scenario that found faults has costs all
 * the same. Throws when it measured nothing.
 */
export async function turnOf(tree: string, scenario: string, flags: string[]): Promise<Record<string, Cost>> {
  const program = join(tree, 'dist/bench/main.js');
  const child = spawn(process.execPath, [program, scenario, ...flags, '--json'], {
    cwd: tree,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const report = jsonOf(out);
  if (!costsIn(report)) throw new Error(`${scenario} measured nothing: ${errors.trim().split('\n').at(-1) ?? ''}`);
  return report.costs;
}

function jsonOf(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}
