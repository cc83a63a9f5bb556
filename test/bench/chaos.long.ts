import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { planFaults } from '../../bench/scenarios/chaos/faults/schedule.js';
import { runChaos } from '../../bench/scenarios/chaos/run.js';

/** A seed with which every kind of fault fits into so short a run. */
const TRIED = { seed: 1103, minutes: 22 / 60, nodes: 2, every: 0.6 };

t.test('a run tries the faults of its seed, notes what happened, and leaves nothing running', async (t) => {
  await mkdir('.data', { recursive: true });
  const folder = await mkdtemp(join(process.cwd(), '.data/chaos-test-'));
  const { seed, minutes, nodes, every } = TRIED;
  const said: string[] = [];
  const abort = new AbortController();
  const options = { ...TRIED, connections: 12, social: 2, rate: 10, social_rate: 1, settle: 5 };
  const running = runChaos(options, folder, abort.signal, (line) => {
    said.push(line);
    t.comment(line);
  });
  t.teardown(async () => {
    abort.abort();
    await running.catch(() => {});
    await rm(folder, { recursive: true, force: true });
  });
  const run = await running;
  const { evidence } = run;
  t.ok(said.some((line) => line.includes(`seed ${seed}`)));
  const asked = {
    seed,
    duration_ms: minutes * 60_000,
    targets: { node: nodes, database: 1, account: 2, receiver: 3 },
    every_ms: every * 1_000,
    without: new Set(run.without),
  };
  t.same(run.planned, planFaults(asked), 'the schedule is that of the seed');
  const tried = run.planned.length - run.missed;
  t.equal(evidence.run.faults.length, tried, 'every fault was tried');
  t.ok(tried > run.planned.length / 2, `${run.missed} found nothing to hit`);
  for (const { kind, from, to } of evidence.run.faults) t.ok(to >= from && to <= evidence.run.calm_at, kind);
  const accepted = evidence.submissions.filter(({ accepted_at }) => accepted_at !== null);
  t.ok(accepted.length > 0, `${accepted.length} accepted of ${evidence.submissions.length}`);
  const stored = new Set(evidence.rows.operations.map(({ id }) => id));
  for (const { operation_id } of accepted) if (!stored.has(operation_id ?? '')) t.fail(`${operation_id} has no row`);
  t.ok(evidence.callbacks.some(({ signature_valid }) => signature_valid));
  t.ok(evidence.samples.length > 0);
  t.equal(evidence.run.extremes, undefined, 'every node has the usual limits');
  const markers = evidence.submissions.flatMap(({ marker }) => marker ?? []);
  t.ok(evidence.ledger.some(({ text }) => markers.some((marker) => text.includes(marker))));
  t.same(processesWith(folder), [], 'nothing of it runs');
});

/** Command lines of processes that name the folder. */
function processesWith(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((command) => command.includes(folder));
}
