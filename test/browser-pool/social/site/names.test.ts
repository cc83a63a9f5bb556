import t from 'tap';
import { fromSite, type Names, toSite } from '../../../../browser-pool/social/site/names.js';

interface Person {
  hashId: string | null;
  distance: 'F' | 'S';
  posts: { title: string }[];
  content: Record<string, unknown>[];
}

const NAMES: Names<{ data: Person | null; wanted?: ('F' | 'S')[] }> = {
  data: [
    'result',
    {
      hashId: 'key',
      distance: ['degree', { F: 'near', S: 'far' }],
      posts: ['jobs', { title: 'role' }],
      content: 'parts',
    },
  ],
  wanted: ['circles', { F: 'near', S: 'far' }],
};

const ADA: { data: Person } = {
  data: { hashId: 'A', distance: 'F', posts: [{ title: 'near' }], content: [{ hashId: 1, key: { distance: 'F' } }] },
};
const SAID = {
  result: { key: 'A', degree: 'near', jobs: [{ role: 'near' }], parts: [{ hashId: 1, key: { distance: 'F' } }] },
};

t.test('what goes by the names of one side goes by those of the other, and content without names stays', async (t) => {
  t.same(toSite(ADA, NAMES), SAID);
  t.same(fromSite(SAID, NAMES), { ...ADA, wanted: null });
  t.same(fromSite({ result: null }, NAMES), { data: null, wanted: null });
  t.same(
    toSite({ wanted: ['S', 'F'], data: undefined }, NAMES),
    { circles: ['far', 'near'] },
    'nothing is left undefined',
  );
  t.same(toSite({ foreign: 1 }, NAMES), {}, 'nothing leaves that has no name');
});

t.test('what the site does not call so is not there', async (t) => {
  const read = (said: unknown) => fromSite(said, NAMES);
  for (const strange of [ADA, {}, { data: SAID.result }, { __proto__: SAID }]) t.equal(read(strange), false);
  t.same(read({ result: {}, more: 1 }), { data: false, wanted: null }, 'an object without any name is unfamiliar');
  t.match(
    read({ result: { key: 'A' } }),
    { data: { hashId: 'A', distance: null, posts: null } },
    'what is left out is null',
  );
  for (const strange of [null, undefined, 7, true]) t.equal(read(strange), strange);
  t.same(read([]), []);
  t.match(
    read({ result: { ...SAID.result, degree: 'F' } }),
    { data: { distance: false } },
    "the service's word is none",
  );
  t.match(read({ result: { ...SAID.result, degree: 'constructor' } }), { data: { distance: false } });
  t.match(
    read({ result: { ...SAID.result, degree: 1 } }),
    { data: { distance: 1 } },
    'left to the check of the answer',
  );
});
