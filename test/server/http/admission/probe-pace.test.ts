import t from 'tap';
import { ProbePace } from '../../../../server/http/admission/probe-pace.js';
import { LIMITS } from '../../../../server/http/limits.js';

t.test('as many probes as watch a node are answered at once, and those of a flood are held', async (t) => {
  let now = 0;
  const pace = new ProbePace(() => now);
  const promptly = (probes: number) => Array.from({ length: probes }, () => pace.hold()).filter((held) => !held).length;
  t.equal(promptly(3 * LIMITS.probes_per_s), LIMITS.probes_per_s);
  now += 100;
  t.equal(promptly(LIMITS.probes_per_s), LIMITS.probes_per_s / 10, 'a tenth of a second later a tenth of them are');
  now += 10_000;
  t.equal(promptly(LIMITS.probes_per_s), LIMITS.probes_per_s);
});
