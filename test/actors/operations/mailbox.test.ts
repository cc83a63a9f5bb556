import fc from 'fast-check';
import t from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { Mailbox } from '../../../actors/operations/mailbox.js';

t.test('a mailbox is a queue whose last operation can be put back, and counts what waits in it', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('push', 'push', 'shift', 'again', 'clear')), (steps) => {
      const load = { waiting: 7 };
      const mailbox = new Mailbox(load);
      const model: string[] = [];
      for (const [number, step] of steps.entries()) {
        if (step === 'push') {
          mailbox.push(`${number}`);
          model.push(`${number}`);
        } else if (step === 'clear') {
          mailbox.clear();
          model.length = 0;
        } else {
          const taken = mailbox.shift();
          if (taken !== model.shift()) return false;
          if (step === 'again' && taken !== undefined) {
            mailbox.putBack(taken);
            model.unshift(taken);
          }
        }
        if (mailbox.size !== model.length || load.waiting !== 7 + model.length) return false;
      }
      return mailbox.ids.join() === model.join();
    }),
  );
  t.end();
});

t.test('taking an operation out costs the same however many wait, and those taken leave memory', async (t) => {
  const mailbox = new Mailbox({ waiting: 0 });
  const many = 400_000;
  for (let number = 0; number < many; number++) mailbox.push(`${number}`);
  const took = (operations: number) => {
    const startedAt = performance.now();
    for (let number = 0; number < operations; number++) mailbox.shift();
    return performance.now() - startedAt;
  };
  // Moving all of them would take a hundred microseconds each, twenty seconds in all.
  t.ok(took(many - LIMITS.mailbox_taken) < 2_000);
  t.equal(mailbox.size, LIMITS.mailbox_taken);
  t.strictSame(mailbox.ids.at(0), `${many - LIMITS.mailbox_taken}`);
});
