import t from 'tap';
import { lookFor, type Place, type PlacedMessage, type Sought } from '../../../browser-pool/contract/look.js';

/** How far a look goes back, and what it claims, in places of any size. */

const SOUGHT: Sought = { kind: 'message', to: { conversation_id: 'c' }, body: 'x', content: [] };
const message = (place: number, body: string, at = place): PlacedMessage => {
  return { urn: `m-${place}`, body, sender_hash_id: 'me', delivered_ms: at, files: [], content: [] };
};

/** A conversation of these messages, oldest first; counts the pages that are read. */
function conversation(messages: PlacedMessage[]) {
  const read = { pages: 0 };
  const place: Place = {
    self: 'me',
    conversationWith: async () => null,
    messages: async (_, from_ms = Number.POSITIVE_INFINITY) => {
      read.pages++;
      return messages
        .filter(({ delivered_ms }) => delivered_ms <= from_ms)
        .slice(-20)
        .reverse();
    },
    invitations: async (start) => ({ entries: [], next: start + 10 }),
  };
  return { place, read };
}

const long = (length: number, wanted: number[]) =>
  Array.from({ length }, (_, place) => message(place, wanted.includes(place) ? 'x' : 'y'));

t.test('a conversation is read to the time of the write, however long it is', async (t) => {
  const { place, read } = conversation(long(10_000, [9_990, 100]));
  t.match(await lookFor(SOUGHT, 9_950, place), { found: 'one', matches: [{ message_urn: 'm-9990' }] });
  t.equal(read.pages, 3);
  t.match(await lookFor(SOUGHT, 9_995, place), { found: 'none', matches: [] });
});

t.test('what lies farther back than a look reads is not denied', async (t) => {
  const { place, read } = conversation(long(10_000, [100]));
  t.strictSame(await lookFor(SOUGHT, 50, place), { found: null, matches: [] });
  t.equal(read.pages, 10);
  const seen = conversation(long(10_000, [100, 9_990]));
  t.match(await lookFor(SOUGHT, 50, seen.place), { found: null, matches: [{ message_urn: 'm-9990' }] }, 'one at least');
});

t.test('ten matches are enough', async (t) => {
  const { place, read } = conversation(
    long(
      10_000,
      Array.from({ length: 1_000 }, (_, n) => 9_999 - n),
    ),
  );
  const look = await lookFor(SOUGHT, 0, place);
  t.equal(look.found, 'several');
  t.equal(look.matches.length, 10);
  t.equal(read.pages, 1);
});

t.test('a short conversation ends where it began, boundary rows repeated or not', async (t) => {
  t.match(await lookFor(SOUGHT, 0, conversation(long(45, [3])).place), {
    found: 'one',
    matches: [{ message_urn: 'm-3' }],
  });
  t.match(await lookFor(SOUGHT, 0, conversation([]).place), { found: 'none' });
});

t.test('a page of one moment leads no farther, and is not taken for the end', async (t) => {
  const { place, read } = conversation([
    message(0, 'x', 5),
    ...Array.from({ length: 30 }, (_, n) => message(n + 1, 'y', 7)),
  ]);
  t.strictSame(await lookFor(SOUGHT, 0, place), { found: null, matches: [] });
  t.equal(read.pages, 10);
});

t.test('without a conversation there is no message', async (t) => {
  const { place, read } = conversation(long(10, [1]));
  const look = await lookFor({ ...SOUGHT, to: { recipient_actor_id: 'a' } }, 0, place);
  t.strictSame(look, { found: 'none', matches: [] });
  t.equal(read.pages, 0);
});

t.test('invitations without end are not read without end', async (t) => {
  const { place } = conversation([]);
  t.strictSame(await lookFor({ kind: 'invitation', recipient_actor_id: 'a' }, 0, place), { found: null, matches: [] });
});
