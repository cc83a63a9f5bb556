import t from 'tap';
import { control, ledgerOf, startedNetwork } from './fixture.js';
import { signedIn } from './visitor.js';

t.test('visitors who leave in the middle do no harm', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'hasty');
  const other = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'patient' });
  const csrf = { 'x-csrf-token': visitor.cookies.get('sn_csrf') ?? '' };
  await control(network, 'POST', '/faults', { mode: 'delay', ms: 5, account: 'hasty' });

  const left = await Promise.allSettled(
    Array.from({ length: 120 }, async (_, number) => {
      const signal = AbortSignal.timeout(1 + (number % 40));
      switch (number % 3) {
        case 0:
          return (await visitor.send('/realtime', { headers: csrf, signal })).body.text();
        case 1:
          return (await visitor.send('https://files.social.test/samples/50000000.bin', { signal })).body.dump();
        default: {
          const body = JSON.stringify({ recipientHashId: other.hash_id, body: `number ${number}` });
          return (await visitor.send('/api/messages', { method: 'POST', headers: csrf, body, signal })).body.text();
        }
      }
    }),
  );
  t.ok(left.some((outcome) => outcome.status === 'rejected'));
  await control(network, 'DELETE', '/faults');

  const { body } = await visitor.api<{ data: { urn: string } }>('/api/messages', {
    recipientHashId: other.hash_id,
    body: 'still here',
  });
  t.ok(body.data.urn);
  t.match((await ledgerOf(network, 'hasty')).at(-1), { text: 'still here' });
});
