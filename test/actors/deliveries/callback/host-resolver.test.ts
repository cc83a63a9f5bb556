import t from 'tap';
import { callbackResolver } from '../../../../actors/deliveries/callback/host-resolver.js';
import { LIMITS } from '../../../../actors/deliveries/limits.js';
import { nameServer } from '../../../fixture/name-server.js';

t.test('a name that takes longer than those before is found', async (t) => {
  const names = await nameServer(t);
  const resolve = callbackResolver([names.address]);
  names.zone.set('quick.test', [{ a: '192.0.2.1' }]);
  names.zone.set('slow.test', [{ a: '192.0.2.2' }]);
  for (let n = 0; n < 5; n++) t.strictSame(await resolve('quick.test'), [{ address: '192.0.2.1', family: 4 }]);
  // More than the library waits for a server that was quick, less than a question has.
  names.held_ms.set('slow.test', LIMITS.name_query_ms * 0.7);
  t.strictSame(await resolve('slow.test'), [{ address: '192.0.2.2', family: 4 }]);
  t.ok(names.asked('slow.test') > LIMITS.name_query_tries, 'it was asked for once more');
});

t.test('a name server that answers nothing is given up', async (t) => {
  const names = await nameServer(t);
  const resolve = callbackResolver([names.address]);
  names.zone.set('silent.test', 'silent');
  await t.rejects(resolve('silent.test'), { code: 'ETIMEOUT' });
  t.equal(names.asked('silent.test'), LIMITS.name_query_tries + 1);
});
