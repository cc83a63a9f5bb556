import t from 'tap';
import { StreamPlaces } from '../../../../server/http/admission/stream-places.js';
import type { UsableKey } from '../../../../storage/workspaces/keys.js';

const keyOf = (kind: UsableKey['kind'], id: string, workspace_id: string): UsableKey => ({
  ...{ kind, id, workspace_id, name: null, scopes: [], networks: null, expires_at: null, limits: null },
});

t.test('one workspace leaves room for the others, all of them for operators, and who leaves makes room', async (t) => {
  const places = new StreamPlaces({ all: 10, each: 4, operators: 3 });
  const taken = (key: UsableKey, times: number) => Array.from({ length: times }, () => places.take(key, () => {}));
  const [leave, ...others] = taken(keyOf('key', 'k1', 'a'), 4);
  t.ok(others.every(Boolean));
  t.notOk(
    places.take(keyOf('key', 'k2', 'a'), () => {}),
    'whichever key of the workspace',
  );
  t.equal(taken(keyOf('key', 'k3', 'b'), 4).filter(Boolean).length, 3, 'the rest is kept for operators');
  t.equal(taken(keyOf('operator', 'o1', 'a'), 4).filter(Boolean).length, 3, 'whichever workspace they look at');
  t.notOk(places.hasRoom(keyOf('operator', 'o2', 'b')), 'all are taken');
  leave?.();
  t.ok(places.hasRoom(keyOf('operator', 'o2', 'b')));
  t.ok(places.take(keyOf('key', 'k4', 'c'), () => {}));
  t.equal(taken(keyOf('operator', 'o1', 'a'), 1).filter(Boolean).length, 0);
});

t.test('the workspace that has the most makes way until all have as many', async (t) => {
  const places = new StreamPlaces({ all: 7, each: 4, operators: 1 });
  const ended: string[] = [];
  const take = (workspace: string, name: string) =>
    places.take(keyOf('key', 'k', workspace), () => void ended.push(name));
  const leaves = ['a1', 'a2', 'a3', 'a4'].map((name) => take('a', name));
  t.ok(take('b', 'b1') && take('b', 'b2'));
  t.ok(take('c', 'c1'), 'a workspace without one');
  t.strictSame(ended, ['a4']);
  leaves.at(-1)?.();
  t.notOk(take('b', 'b3'), 'nobody has two more than it');
  t.ok(take('d', 'd1'));
  t.ok(take('c', 'c2') === undefined && places.hasRoom(keyOf('key', 'k', 'e')));
  t.strictSame(ended, ['a4', 'a3']);
  t.ok(
    places.take(keyOf('operator', 'o', 'a'), () => {}),
    'the place of operators stays theirs',
  );
  for (const name of ['e1', 'f1']) take(name, name);
  t.strictSame(ended.sort(), ['a2', 'a3', 'a4', 'b2']);
  t.notOk(places.hasRoom(keyOf('key', 'k', 'g')), 'each has one');
});
