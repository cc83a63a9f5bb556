import t from 'tap';
import { insertSimulated, insertWorkspace } from '../../../fixture/rows.js';
import { insertKey, startTestEdge } from '../../edge-fixture.js';

const TO = 'ACoAAGrace1';
const ATTACHMENT = {
  recipient_actor_id: TO,
  filename: 'a.txt',
  content_type: 'text/plain',
  data_base64: Buffer.alloc(1_000_000, 'secret').toString('base64'),
};
/** What is submitted, what is read of it, and what is not. */
const WORK: [capability: string, input: object, shown: object, hidden: string[]][] = [
  ['social.profile.get', { profile_id: 'bob' }, { profile_id: 'bob' }, []],
  [
    'social.message.send',
    { recipient_actor_id: TO, body: 'for her eyes', render_content_unions: [{ text: 'hidden as well' }] },
    { recipient_actor_id: TO },
    ['body', 'render_content_unions'],
  ],
  ['social.invitation.send', { recipient_actor_id: TO }, { recipient_actor_id: TO }, []],
  [
    'social.attachment.send',
    ATTACHMENT,
    { recipient_actor_id: TO, filename: 'a.txt', content_type: 'text/plain' },
    ['data_base64'],
  ],
  ['social.file.download', { url: 'https://files.social.test/a#secret' }, {}, ['url']],
  ['social.login', {}, {}, []],
];

t.test('an operation is read with its input, without what is secret in it (OPS-28)', async (t) => {
  const { db, call, workspaceId } = await startTestEdge(t);
  const { id } = await insertSimulated(db, workspaceId, 'ann');
  const foreign = await insertKey(db, await insertWorkspace(db));
  for (const [capability, input, shown, hidden] of WORK) {
    const headers = { 'idempotency-key': capability };
    const { json } = await call('POST', `/v1/connections/${id}/operations`, { body: { capability, input }, headers });
    const path = `/v1/operations/${json.id}/input`;
    const echo = await call('GET', path);
    t.strictSame(echo.json, { operation_id: json.id, capability, input: shown, hidden }, capability);
    t.equal((await call('GET', path, { key: foreign })).status, 404, 'nobody else reads it');
  }
});
