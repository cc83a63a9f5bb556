import t from 'tap';
import { validate, version } from 'uuid';
import { timeOfId } from '../../../storage/model/id-time.js';
import { newId } from '../../../storage/model/new-id.js';

t.test('ids are UUIDv7, each above the one before, and tell when they were made', async (t) => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, newId);
  const after = Date.now();
  t.ok(ids.every((id) => validate(id) && version(id) === 7));
  t.ok(
    ids.every((id, i) => i === 0 || id > (ids[i - 1] as string)),
    'ascending, and so each once',
  );
  t.ok(timeOfId(ids[0] as string) >= before && timeOfId(ids.at(-1) as string) <= after);
});

t.test('the random end of an id is drawn for it alone', async (t) => {
  const ends = new Set(Array.from({ length: 20_000 }, () => newId().slice(-12)));
  t.equal(ends.size, 20_000);
});

t.test('a clock that is set back gives ids that go on above those before', async (t) => {
  const ahead = newId();
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() - 60_000;
  const ids = Array.from({ length: 1_000 }, newId);
  t.ok((ids[0] as string) > ahead);
  t.ok(ids.every((id, i) => i === 0 || id > (ids[i - 1] as string)));
});
