import t from 'tap';
import { validated } from '../../../storage/model/examined.js';
import { fieldError } from '../../../storage/model/field-errors.js';

const open = { root: 'body', secret: false };

t.test('a finding names its path below the root, what was expected there, and a short plain value', async (t) => {
  const finding = { path: '$input.items[0].region', expected: 'string', value: 7 };
  t.strictSame(fieldError(finding, open), { path: 'body.items[0].region', expected: 'string', value: 7 });
  t.strictSame(fieldError({ ...finding, value: 'x'.repeat(101) }, open).value, undefined, 'a long text');
  t.strictSame(fieldError({ ...finding, value: {} }, open).value, undefined, 'an object');
  t.strictSame(fieldError({ ...finding, value: null }, open).value, null);
  t.notOk('value' in fieldError({ ...finding, value: undefined }, open), 'an absent field');
});

t.test('a secret is not repeated, and neither is the value of an unknown field', async (t) => {
  const finding = { path: '$input.password', expected: 'string', value: 7 };
  t.strictSame(fieldError(finding, { ...open, secret: true }), { path: 'body.password', expected: 'string' });
  const unknown = { path: '$input.extra', expected: 'undefined', value: 'hunter2' };
  t.strictSame(fieldError(unknown, open), { path: 'body.extra', expected: 'no such field' });
});

t.test('a type is shown without what typia adds for optional fields and grouping', async (t) => {
  const shown = (expected: string) => fieldError({ path: '$input.a', expected, value: {} }, open).expected;
  t.equal(shown('(string | undefined)'), 'string');
  t.equal(shown('((string & MinLength<1>) | undefined)'), 'string & MinLength<1>');
  t.equal(shown('((string & Pattern<"^(a|b)$">) | undefined)'), 'string & Pattern<"^(a|b)$">');
  t.equal(shown('(A & B) | (C & D)'), '(A & B) | (C & D)', 'two groups stay two');
  t.equal(shown('((A & B) | (C & D) | undefined)'), '(A & B) | (C & D)');
  t.equal(shown('SimulatedActorInput'), 'an object');
  t.equal(shown('Record<string, unknown>'), 'an object');
  t.equal(fieldError({ path: '$input', expected: 'Anything', value: 1 }, open).expected, 'an object');
});

t.test('of a list that is too long only its beginning is examined, and told as too long', async (t) => {
  const seen: unknown[] = [];
  const validate = (value: unknown) => {
    seen.push(value);
    return { success: (value as unknown[]).length <= 100 };
  };
  t.equal(
    validated(
      validate,
      Array.from({ length: 100 }, () => 1),
    ).success,
    true,
  );
  t.equal(
    validated(
      validate,
      Array.from({ length: 50_000 }, () => 1),
    ).success,
    false,
  );
  t.strictSame(
    seen.map((one) => (one as unknown[]).length),
    [100, 101],
    'one more than may be',
  );
});
