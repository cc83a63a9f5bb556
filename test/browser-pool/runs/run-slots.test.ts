import t from 'tap';
import { RunSlots } from '../../../browser-pool/runs/run-slots.js';
import { FairSlots } from '../../../storage/process/fair-slots.js';

t.test(
  'a page slot that was kept for the first page and given back is nobody’s until it is acquired again',
  async (t) => {
    const [runSlots, pageSlots] = [new FairSlots(2), new FairSlots(1)];
    const clock = { stopClock: () => {}, startClock: () => {} };
    const { signal } = new AbortController();
    const slots = new RunSlots({ runSlots, pageSlots, workspaceId: 'one', clock, signal });
    await slots.reservePage();
    await slots.acquire();
    t.strictSame([runSlots.held, pageSlots.held], [1, 1]);
    slots.release();
    t.strictSame([runSlots.held, pageSlots.held], [0, 0]);

    const others = await pageSlots.acquire('other');
    await slots.acquire();
    let opened = false;
    const page = slots.acquirePage().then((release) => {
      opened = true;
      return release;
    });
    t.equal(pageSlots.waiting, 1, 'it waits for the page of the other');
    t.equal(runSlots.held, 0, 'without its run slot');
    t.notOk(opened);
    others();
    const close = await page;
    t.strictSame([runSlots.held, pageSlots.held], [1, 1]);
    close();
    slots.release();
    t.strictSame([runSlots.held, pageSlots.held], [0, 0]);
  },
);
