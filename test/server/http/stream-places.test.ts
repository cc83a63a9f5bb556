import t from 'tap';
import { StreamPlaces } from '../../../server/http/stream-places.js';
import type { UsableKey } from '../../../storage/workspaces/keys.js';

const keyOf = (kind: UsableKey['kind'], id: string, workspace_id: string): UsableKey => ({
  ...{ kind, id, workspace_id, name: null, scopes: [], networks: null, expires_at: null, limits: null },
});

t.test('one workspace leaves room for the others, all of them for operators, and who leaves makes room', async (t) => {
  const places = new StreamPlaces({ all: 10, each: 4, operators: 3 });
  const taken = (key: UsableKey, times: number) => Array.from({ length: times }, () => places.take(key));
  const [leave, ...others] = taken(keyOf('key', 'k1', 'a'), 4);
  t.ok(others.every(Boolean));
  t.notOk(places.take(keyOf('key', 'k2', 'a')), 'whichever key of the workspace');
  t.equal(taken(keyOf('key', 'k3', 'b'), 4).filter(Boolean).length, 3, 'the rest is kept for operators');
  t.notOk(places.hasRoom(keyOf('key', 'k4', 'c')));
  t.equal(taken(keyOf('operator', 'o1', 'a'), 4).filter(Boolean).length, 3, 'whichever workspace they look at');
  t.notOk(places.hasRoom(keyOf('operator', 'o2', 'b')), 'all are taken');
  leave?.();
  t.ok(places.hasRoom(keyOf('operator', 'o2', 'b')));
  t.ok(places.take(keyOf('key', 'k4', 'c')));
  t.equal(taken(keyOf('operator', 'o1', 'a'), 1).filter(Boolean).length, 0);
});
