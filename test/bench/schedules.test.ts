import t from 'tap';
import { Machine, search } from '../../bench/scenarios/schedules/machine.js';
import { freshDatabase } from '../fixture/database.js';
import { sized } from '../fixture/size.js';

/** `npm run bench -- schedules` plays more of them; SCHEDULES_SEED plays others. */
const SCHEDULES = sized(40, 150);

t.test('no order of what two nodes do loses, sticks, repeats or reorders an operation', async (t) => {
  const { url } = await freshDatabase(t);
  const machine = await Machine.open(url);
  t.teardown(() => machine[Symbol.asyncDispose]());
  const seed = Number(process.env.SCHEDULES_SEED ?? 1);
  const found = await search(machine, { count: SCHEDULES, seed });
  t.equal(found && `--seed ${seed} --path ${found.path}\n${found.broken.message}`, undefined);
});
