import fc from 'fast-check';
import t from 'tap';
import { kindOfKey, newKeyText, prefixOf } from '../../../storage/workspaces/key-format.js';

t.test('a key says whose it is, and a mistyped one is none', async (t) => {
  for (const kind of ['key', 'operator'] as const) {
    const key = newKeyText(kind);
    t.equal(kindOfKey(key), kind);
    t.match(prefixOf(key), kind === 'key' ? /^cs_live_\w{4}$/ : /^cs_oper_\w{4}$/);
  }
  const key = newKeyText('key');
  fc.assert(
    fc.property(fc.nat(key.length - 1), fc.stringMatching(/^[0-9A-Za-z_]$/), (place, character) => {
      if (character === key[place]) return true;
      return kindOfKey(key.slice(0, place) + character + key.slice(place + 1)) === undefined;
    }),
  );
  for (const text of ['', 'cs_', key.slice(0, -1), `${key}0`, key.replace('live', 'test')])
    t.equal(kindOfKey(text), undefined);
});
