import t from 'tap';
import typia, { type tags } from 'typia';
import { partitionOf } from '../storage/records.js';

t.test('typia transforms', async (t) => {
  const r = typia.validateEquals<{ a: string & tags.MaxLength<3> }>({ a: 'abcd', b: 1 });
  t.notOk(r.success);
  t.equal(partitionOf('x'), partitionOf('x'));
});
