import fc from 'fast-check';
import t from 'tap';
import { LIMITS } from '../../../actors/limits.js';
import { Mailbox } from '../../../actors/operations/mailbox.js';
import { processor_us } from '../../fixture/measures.js';

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
  const filled = (operations: number) => {
    const mailbox = new Mailbox({ waiting: 0 });
    for (let number = 0; number < operations; number++) mailbox.push(`${number}`);
    return mailbox;
  };
  const many = 400_000;
  const taken = 20_000;
  const cost_us = (mailbox: Mailbox) =>
    processor_us(() => {
      for (let number = 0; number < taken; number++) mailbox.shift();
    });
  const mailbox = filled(many);
  const [few_us, many_us] = [cost_us(filled(3 * taken)), cost_us(mailbox)];
  // Moving all of them would take a hundred microseconds each, two seconds in all.
  t.ok(many_us < 10 * few_us + 50_000, `${taken} of few take ${few_us} µs of the processor, of many ${many_us}`);
  while (mailbox.size > LIMITS.mailbox_taken) mailbox.shift();
  t.equal(mailbox.size, LIMITS.mailbox_taken);
  t.strictSame(mailbox.ids.at(0), `${many - LIMITS.mailbox_taken}`);
});
