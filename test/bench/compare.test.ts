import { InvalidArgumentError } from 'commander';
import t from 'tap';
import type { Cost } from '../../bench/kit/cost/cost.js';
import { spreadOf } from '../../bench/kit/spread.js';
import { type Rounds, ratioLines, ratiosOf, sidesOf } from '../../bench/scenarios/compare/ratios.js';
import { sideBySide } from '../../bench/scenarios/compare/side-by-side.js';
import { treeOf } from '../../bench/scenarios/compare/tree.js';

const cost = (us: number): Cost => ({
  ...{ service_us: spreadOf([us]), postgres_us: spreadOf([us * 2]), operations: 10 },
});

const rounds: Rounds = {
  base: [{ poll: cost(40), gone: cost(1) }, { poll: cost(60) }],
  this: [{ poll: cost(100), added: cost(1) }, { poll: cost(50) }],
};

t.test('rounds are compared one by one, of kinds that both commits have', async (t) => {
  const sides = sidesOf(rounds);
  t.strictSame([...sides.keys()], ['poll']);
  t.match(sides.get('poll'), { base: { service_us: { rounds: [40, 60] } }, this: { operations: 20 } });
  const ratios = ratiosOf(sides);
  t.match(ratios, [
    { kind: 'poll', figure: 'service µs', base: { median: 50 }, this: { median: 75 }, ratio: (100 / 40 + 50 / 60) / 2 },
    {
      kind: 'poll',
      figure: 'PostgreSQL µs',
      base: { median: 100 },
      this: { median: 150 },
      ratio: (100 / 40 + 50 / 60) / 2,
    },
  ]);
  const [head, service, ...others] = ratioLines(ratios);
  t.match(head, /base +this +this\/base$/);
  t.match(service, /^poll +service µs +50 \(40–60\) +75 \(50–100\) +1\.67$/);
  t.equal(others.length, 1);
});

t.test('a commit that is not there, and a scenario that measures nothing, say so', async (t) => {
  for (const commit of ['no-such-commit', '--all', ''])
    await t.rejects(
      treeOf(commit, () => {}),
      InvalidArgumentError,
      commit,
    );
  await t.rejects(
    sideBySide([process.cwd(), process.cwd()], 'no-such-scenario', []),
    /^no-such-scenario measured nothing: ./,
  );
});
