import t from 'tap';
import type { InputContext } from '../../../actors/capabilities/capability.js';
import { capabilities, capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import { validateInput } from '../../../actors/capabilities/validation.js';
import { BOUNDS } from './bounds.js';

const check = (name: string, input: unknown, context?: InputContext) => {
  const capability = capabilityNamed(name);
  if (!capability) throw new Error(`no capability ${name}`);
  return validateInput(capability, input, context);
};
const shown = (input: unknown) => (JSON.stringify(input) ?? 'undefined').slice(0, 90);

t.test('every capability has its bounds tried from both sides', async (t) => {
  t.strictSame(
    Object.keys(BOUNDS),
    capabilities.map(({ name }) => name),
    'the table names no other',
  );
  for (const [name, { accepted, refused }] of Object.entries(BOUNDS)) {
    for (const input of accepted) t.strictSame(check(name, input), [], `${name} takes ${shown(input)}`);
    for (const [input, path] of refused) {
      t.ok(
        check(name, input).some((error) => error.path === path),
        `${name} refuses ${path} of ${shown(input)}`,
      );
    }
  }
});

t.test('unknown fields are refused by every capability', async (t) => {
  for (const [name, { accepted }] of Object.entries(BOUNDS)) {
    const [error] = check(name, { ...(accepted[0] as object), surprise: 'hidden' });
    t.strictSame(error, { path: 'input.surprise', expected: 'no such field' }, name);
  }
  const smuggled = JSON.parse('{"keywords":"a","__proto__":{"filters":1}}');
  t.ok(check('social.people.search', smuggled).length > 0, 'even one that JavaScript knows');
});

t.test('an error tells the value, but never message text, file bytes or an address', async (t) => {
  t.strictSame(check('social.typeahead', { kind: 'pet', keyword: 'a' })[0]?.value, 'pet');
  const secret = 'Extremely Private';
  const refused: [string, unknown][] = [
    ['social.message.send', { conversation_id: 'a', body: `${secret}\u0000` }],
    ['social.message.send', { conversation_id: 'a', body: 'b', render_content_unions: [secret] }],
    ['social.message.send', { conversation_id: 'a', body: 'b', render_content_unions: secret }],
    ['social.message.send', secret],
    ['social.message.send', { conversation_id: 'a', text: secret }],
    ['social.invitation.send', { recipient_actor_id: 'a', message: `${secret}\u0000` }],
    ['social.attachment.send', { data_base64: secret }],
    ['social.attachment.send', { conversation_id: 'a', filename: 'a', content_type: 'a/b', data_base64: secret }],
    ['social.file.download', { url: `https://user:${secret}@social.test/` }],
    ['social.file.download', { url: `https://social.test/\u0000${secret}` }],
  ];
  for (const [name, input] of refused) {
    const errors = check(name, input);
    t.ok(errors.length > 0);
    t.notMatch(JSON.stringify(errors), secret, `${name} with ${shown(input)}`);
  }
});

t.test('no secret field of any record is repeated, whatever is wrong with it', async (t) => {
  const secret = 'Extremely Private';
  const tried = capabilities.flatMap(({ name, secretInputs, example }) =>
    [...secretInputs].map((field) => [name, { ...example.input, [field]: `${secret}\u0000` }] as const),
  );
  t.ok(tried.length >= 6);
  for (const [name, input] of tried) {
    const errors = check(name, input);
    t.ok(errors.length > 0, `${name} with ${shown(input)}`);
    t.notMatch(JSON.stringify(errors), secret);
  }
});

t.test('a conversation urn must name the own actor, once it is known', async (t) => {
  const input = { conversation_urn: 'urn:social:conversation:(me,2-a)' };
  t.strictSame(check('social.messages.list', input, { ownActor: 'me' }), []);
  t.strictSame(check('social.messages.list', input, { ownActor: null }), []);
  t.strictSame(check('social.messages.list', input, { ownActor: 'no recipient' }), [], 'its hash id is another');
  t.equal(check('social.messages.list', input, { ownActor: 'you' })[0]?.path, 'input.conversation_urn');
});

t.test('the domains of downloads are the configured ones', async (t) => {
  const providerDomains = ['network.example'];
  t.strictSame(check('social.file.download', { url: 'https://cdn.network.example/a' }, { providerDomains }), []);
  t.equal(check('social.file.download', { url: 'https://social.test/a' }, { providerDomains }).length, 1);
});
