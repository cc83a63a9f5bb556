import t from 'tap';
import { LIMITS } from '../../../../actors/limits.js';
import { Mailboxes } from '../../../../actors/operations/partition/mailboxes.js';

interface Held {
  waiting: number;
  running: boolean;
  inHand: string[];
}

const NOBODY: ReadonlySet<string> = new Set();
/** A moment at which every mailbox that was idle before has been so for long enough. */
const late = () => performance.now() + LIMITS.mailbox_idle_ms + 1;

function mailboxes() {
  const actors = new Map<string, Held>();
  const boxes = new Mailboxes<Held>((id) => {
    const actor: Held = { waiting: 0, running: false, inHand: [] };
    actors.set(id, actor);
    return actor;
  });
  const works = (id: string, ...inHand: string[]) =>
    Object.assign(actors.get(id)!, { running: inHand.length > 0, waiting: Math.max(0, inHand.length - 1), inHand });
  return { boxes, works };
}

t.test('one with nothing in hand is closed once it has been idle for long enough', async (t) => {
  const { boxes } = mailboxes();
  const actor = boxes.open('a', '5');
  t.strictSame(boxes.toClose(performance.now(), NOBODY), []);
  t.strictSame(boxes.toClose(late(), NOBODY), [{ actor, version: '5', from: null }]);
  t.strictSame(boxes.toClose(late(), NOBODY), [], 'by one statement at a time');
  t.strictSame([...boxes.openOnes()], [], 'meanwhile what is accepted makes it due');
  boxes.closed('a', { kind: 'closed' });
  t.equal(boxes.size, 0);
});

t.test('one at work stays open, and its mark moves to the lowest id in hand once many have ended', async (t) => {
  const { boxes, works } = mailboxes();
  const actor = boxes.open('a', '5');
  works('a', '30', '10', '20');
  for (let ended = 1; ended < LIMITS.mailbox_ended; ended++) boxes.ended('a');
  t.strictSame(boxes.toClose(late(), NOBODY), [], 'one less than many');
  boxes.ended('a');
  t.strictSame(boxes.toClose(late(), NOBODY), [{ actor, version: '5', from: '10' }]);
  boxes.closed('a', { kind: 'moved', version: '6' });
  t.strictSame([...boxes.openOnes()], ['a']);
  t.strictSame(boxes.toClose(late(), NOBODY), [], 'until as many have ended again');
});

t.test('nothing is closed while an operation is being stored for it, or is about to be taken', async (t) => {
  const { boxes } = mailboxes();
  boxes.open('a', '5');
  t.equal(boxes.storing('a'), true, 'it is open');
  boxes.storing('a');
  t.strictSame(boxes.toClose(late(), NOBODY), []);
  boxes.stored('a');
  t.equal(boxes.isStoring('a'), true, 'another one is');
  t.strictSame(boxes.toClose(late(), NOBODY), []);
  boxes.stored('a');
  t.equal(boxes.isStoring('a'), false);
  t.strictSame(boxes.toClose(late(), new Set(['a'])), []);
  t.equal(boxes.toClose(late(), NOBODY).length, 1);
  t.equal(boxes.storing('a'), false, 'and what is stored now makes it due');
});

t.test('one whose closing changed nothing, or was not answered, is closed again whatever is in hand', async (t) => {
  const { boxes, works } = mailboxes();
  for (const [id, end] of [['left', { kind: 'left', version: '7' }] as const, ['lost', undefined] as const]) {
    const actor = boxes.open(id, '5');
    t.equal(boxes.toClose(late(), NOBODY).length, 1);
    boxes.closed(id, end);
    t.strictSame([...boxes.openOnes()], [], id);
    t.equal(boxes.isHeld(id), true, 'its job may be there');
    works(id, '10');
    t.strictSame(boxes.toClose(performance.now(), NOBODY), [{ actor, version: end ? '7' : '5', from: '10' }]);
    boxes.open(id, '9');
    boxes.closed(id, { kind: 'closed' });
    t.strictSame([...boxes.openOnes()], [id], 'it was opened anew meanwhile: the answer is of before');
    boxes.closeAll();
    t.equal(boxes.isHeld(id), false);
    t.equal(boxes.size, 1, 'an actor with something in hand stays');
    works(id);
    boxes.idle(id);
    t.equal(boxes.size, 0, 'until it has nothing');
  }
});
