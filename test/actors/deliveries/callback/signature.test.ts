import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { callbackHeaders } from '../../../../actors/deliveries/callback/signature.js';

const body = Buffer.from('{"id":"é"}');
const base = { eventId: 'event-1', deliveryId: 'delivery-1', body };

t.test('signs the timestamp, a period and the raw bytes with the secret', async (t) => {
  const headers = callbackHeaders({ ...base, at: new Date(1_700_000_000_999), secrets: ['s'.repeat(32)] });
  const signed = Buffer.concat([Buffer.from('1700000000.'), body]);
  t.equal(headers['X-CS-Signature'], `v1=${createHmac('sha256', 's'.repeat(32)).update(signed).digest('hex')}`);
  t.equal(headers['X-CS-Timestamp'], '1700000000');
  t.equal(headers['X-CS-Event-Id'], 'event-1');
  t.equal(headers['X-CS-Delivery-Id'], 'delivery-1');
  t.notOk('X-CS-Connection-Reference' in headers);
  const named = callbackHeaders({ ...base, reference: 'customer-4711', at: new Date(), secrets: ['s'.repeat(32)] });
  t.equal(named['X-CS-Connection-Reference'], 'customer-4711');
});

t.test('a body of any length is signed to its last byte', async (t) => {
  const large = Buffer.alloc(1024 * 1024, 'a');
  const changed = Buffer.from(large);
  changed[changed.length - 1]! ^= 1;
  const signatures = (body: Buffer) => {
    const headers = callbackHeaders({ ...base, body, at: new Date(1_000), secrets: ['s'.repeat(32)] });
    return [headers['X-CS-Signature'], headers['webhook-signature']];
  };
  const hmac = createHmac('sha256', 's'.repeat(32)).update('1.').update(large);
  t.equal(signatures(large)[0], `v1=${hmac.digest('hex')}`);
  for (const [i, signature] of signatures(changed).entries()) t.not(signature, signatures(large)[i]);
});

t.test('a known answer, computed elsewhere', async (t) => {
  const headers = callbackHeaders({
    ...base,
    body: Buffer.from('{}'),
    at: new Date(1_000),
    secrets: ['0123456789abcdef0123456789abcdef'],
  });
  // printf '1.{}' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
  t.equal(headers['X-CS-Signature'], 'v1=1642a706b2e4d9fa8663449a8826d942c133b097231992683d5a44c2afc57499');
});

t.test('a stock Standard Webhooks verifier accepts the same request, with non-ASCII secrets too', async (t) => {
  for (const secret of ['whsec_looks_like_a_prefix_but_is_not', 'ünïcödé-secret-of-32-characters!']) {
    const headers = callbackHeaders({ ...base, at: new Date(), secrets: [secret] });
    const verifier = new Webhook(`whsec_${Buffer.from(secret).toString('base64')}`);
    t.same(verifier.verify(body, headers), { id: 'é' });
  }
});

t.test('while a rotation overlaps, both secrets sign, the new one first', async (t) => {
  const [current, previous] = ['n'.repeat(32), 'o'.repeat(32)];
  const both = callbackHeaders({ ...base, at: new Date(), secrets: [current, previous] });
  const alone = (secret: string) => callbackHeaders({ ...base, at: new Date(), secrets: [secret] });
  t.equal(both['X-CS-Signature'], `${alone(current)['X-CS-Signature']},${alone(previous)['X-CS-Signature']}`);
  for (const secret of [current, previous]) {
    t.ok(new Webhook(Buffer.from(secret).toString('base64')).verify(body, both));
  }
});
