import t from 'tap';
import { retrying } from '../../actors/retry.js';

t.test('what fails is asked again until it succeeds, and each failure is reported', async (t) => {
  const errors: unknown[] = [];
  let asked = 0;
  const ask = async () => {
    if (++asked < 3) throw new Error(`failure ${asked}`);
    return asked;
  };
  t.equal(await retrying(ask, (error) => errors.push((error as Error).message)), 3);
  t.strictSame(errors, ['failure 1', 'failure 2']);
});

t.test('an error that the report throws ends it', async (t) => {
  const over = new Error('nothing more is stored');
  const failing = () => Promise.reject(new Error('the database is gone'));
  const stop = () => {
    throw over;
  };
  await t.rejects(retrying(failing, stop), over);
});
