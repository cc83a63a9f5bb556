import t from 'tap';
import { keepsAll, renewedBy, type Session, withRenewal } from '../../browser-pool/session.js';

const cookie = (name: string, value: string, expires = -1): Session['cookies'][number] => ({
  ...{ name, value, expires, domain: '.social.test', path: '/' },
  ...{ httpOnly: true, secure: true, sameSite: 'Lax' },
});

const origins = [{ origin: 'https://www.social.test', localStorage: [{ name: 'device', value: '1' }] }];
const session = (...cookies: Session['cookies']) => JSON.stringify({ cookies, origins });
const inHours = (hours: number) => Date.now() / 1000 + 3600 * hours;

t.test(
  'a session is renewed by another value, a cookie more and a cookie less, and keeps its local storage',
  async (t) => {
    const base = session(cookie('token', '1'), cookie('csrf', 'c'));
    t.equal(renewedBy(base, [cookie('csrf', 'c'), cookie('token', '1')]), undefined, 'the order is none');
    const renewed = renewedBy(base, [cookie('token', '2'), cookie('csrf', 'c')]);
    t.equal(renewed, session(cookie('token', '2'), cookie('csrf', 'c')));
    t.ok(renewedBy(base, [cookie('token', '1'), cookie('csrf', 'c'), cookie('more', 'm')]));
    const less = renewedBy(base, [cookie('token', '1')]);
    t.equal(less, session(cookie('token', '1')));
    t.notOk(keepsAll({ base, session: less ?? '' }));
    t.ok(keepsAll({ base, session: renewed ?? '' }));
  },
);

t.test('a time that is put off with every answer renews the session once less than half of it was left', async (t) => {
  const base = session(cookie('token', '1', inHours(10)));
  t.equal(renewedBy(base, [cookie('token', '1', inHours(19))]), undefined);
  t.ok(renewedBy(base, [cookie('token', '1', inHours(21))]));
  t.ok(renewedBy(session(cookie('token', '1')), [cookie('token', '1', inHours(1))]), 'or when there was none');
});

t.test('a renewal changes what is stored as its holder knew it, and nothing else', async (t) => {
  const base = session(cookie('token', '1'), cookie('seen', 'a'));
  const renewal = { base, session: session(cookie('token', '2'), cookie('seen', 'a'), cookie('more', 'm')) };
  const stored = withRenewal(base, renewal);
  t.equal(stored, renewal.session);
  t.equal(withRenewal(stored ?? '', renewal), undefined, 'once');
  const elsewhere = session(cookie('token', '1'), cookie('seen', 'b'));
  t.same(JSON.parse(withRenewal(elsewhere, renewal) ?? ''), {
    cookies: [cookie('token', '2'), cookie('seen', 'b'), cookie('more', 'm')],
    origins,
  });
  const later = session(cookie('token', '3'), cookie('seen', 'a'), cookie('more', 'n'));
  t.equal(withRenewal(later, renewal), undefined, 'a value that the site knows no more does not come back');
  const without = { base, session: session(cookie('seen', 'a')) };
  t.same(JSON.parse(withRenewal(elsewhere, without) ?? '').cookies, [cookie('seen', 'b')]);
  t.equal(withRenewal(later, without), undefined);
});
