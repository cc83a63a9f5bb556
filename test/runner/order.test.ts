import t from 'tap';
import { inOrder, Queue } from './order.js';

const nameOf = (file: string) => file;

t.test('the longest come first, the others by their names', (t) => {
  const files = ['b', 'story/two-nodes', 'a', 'fuzz/http'];
  t.strictSame(inOrder(files, nameOf), ['story/two-nodes', 'fuzz/http', 'a', 'b']);
  t.end();
});

t.test('what files share one lane has alone, until there is nothing else', (t) => {
  const [citing, clocks, waits] = ['citations', 'clocks', 'waits'];
  const queue = new Queue<string>([citing, clocks, 'a', waits, 'b'], nameOf);
  t.equal(queue.next('one'), citing);
  t.equal(queue.next('other'), 'a', 'clocks is kept for the first lane');
  t.equal(queue.next('one'), clocks);
  t.equal(queue.next('other'), 'b');
  t.equal(queue.next('other'), waits, 'no lane is idle while there is a file');
  t.equal(queue.next('one'), undefined);
  t.end();
});
