import t from 'tap';
import { checkStep, type Steps } from '../../../storage/process/steps.js';

const STEPS: Steps<'open' | 'closed'> = { open: ['closed'], closed: [] };

t.test('a step of the table passes, any other throws and names the machine and both states', async (t) => {
  t.doesNotThrow(() => checkStep('door', STEPS, 'open', 'closed'));
  t.throws(() => checkStep('door', STEPS, 'closed', 'open'), /door: no step from closed to open/);
  t.throws(() => checkStep('door', STEPS, 'open', 'open'), /door: no step from open to open/);
});
