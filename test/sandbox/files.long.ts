import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { control, dataDirectory, ledgerOf, startedNetwork } from './fixture.js';
import { type MessageRow, signedIn, Visitor } from './visitor.js';

type Uploaded = { data: { urn: string; name: string; contentType: string; size: number } };
type Sent = { data: { conversationId: string } };
type WithFile = MessageRow & { renderContent: { attachment: { url: string; name: string } }[] };

const FILES = 'https://files.social.test';

async function upload(visitor: Visitor, name: string, bytes: Buffer): Promise<{ status: number; body: Uploaded }> {
  const answer = await visitor.send('/api/attachments', {
    method: 'POST',
    headers: {
      'x-csrf-token': visitor.cookies.get('sn_csrf') ?? '',
      'content-type': 'application/pdf',
      'x-file-name': encodeURIComponent(name),
    },
    body: bytes,
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Uploaded };
}

t.test('attachments and files', async (t) => {
  const directory = await dataDirectory(t);
  const network = await startedNetwork(t, directory);
  const sender = await signedIn(t, network, 'sender');
  const recipient = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'receiver' });
  const send = (urns: string[], body = '') =>
    sender.api<Sent>('/api/messages', { recipientHashId: recipient.hash_id, body, attachments: urns });

  t.test('a file reaches the other side byte for byte, and no other visitor, restart or not', async (t) => {
    const bytes = randomBytes(1_000_000);
    const { status, body } = await upload(sender, 'Ängebot 1.pdf', bytes);
    t.equal(status, 201);
    t.match(body.data, { name: 'Ängebot 1.pdf', contentType: 'application/pdf', size: 1_000_000 });
    t.same(await ledgerOf(network, 'sender'), [], 'an upload is no send');
    const sent = await send([body.data.urn]);
    t.equal(sent.status, 201);
    t.match(await ledgerOf(network, 'sender'), [{ kind: 'attachment', text: 'Ängebot 1.pdf' }]);
    await network.kill();

    const again = await startedNetwork(t, directory);
    const receiver = await signedIn(t, again, 'receiver', 'FR');
    const path = `/api/conversations/${sent.body.data.conversationId}/messages`;
    const [message] = (await receiver.list<WithFile>(path)).data;
    const url = message?.renderContent[0]?.attachment.url ?? '';
    t.match(url, /^https:\/\/files\.social\.test\/attachments\//);
    const answer = await receiver.send(url);
    t.equal(answer.headers['content-type'], 'application/pdf');
    t.ok(bytes.equals(Buffer.from(await answer.body.arrayBuffer())));
    const stranger = await signedIn(t, again, 'stranger');
    t.match(await stranger.page(url), { status: 404, name: 'not-found' });
    const signedOut = await Visitor.from(t, again);
    t.match(await signedOut.page(url), { status: 302, location: 'https://www.social.test/login?next=%2Ffeed' });
  });
});

t.test('files of all kinds', async (t) => {
  const network = await startedNetwork(t);
  const visitor = await signedIn(t, network, 'ada');

  t.test('only own uploads can be sent, and only proper ones can be made', async (t) => {
    const other = await signedIn(t, network, 'other');
    const { body } = await upload(other, 'theirs.pdf', Buffer.from('x'));
    const account = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'other' });
    const message = { recipientHashId: account.hash_id, body: '', attachments: [body.data.urn] };
    t.match(await visitor.api('/api/messages', message), {
      status: 422,
      body: { error: { code: 'unknown_attachment' } },
    });
    t.equal((await upload(visitor, 'a/b.pdf', Buffer.from('x'))).status, 400);
    t.equal((await upload(visitor, 'empty.pdf', Buffer.alloc(0))).status, 400);
    t.equal((await upload(visitor, 'large.pdf', Buffer.alloc(2_000_001))).status, 400);
    t.equal((await upload(visitor, 'huge.pdf', Buffer.alloc(3_000_000))).status, 413);
  });

  t.test('faults of an attachment hit the message that carries it, not the upload', async (t) => {
    const account = await control<{ hash_id: string }>(network, 'POST', '/accounts', { username: 'other' });
    await control(network, 'POST', '/faults', {
      mode: 'drop_after_commit',
      capability: 'social.attachment.send',
      times: 1,
    });
    const { body } = await upload(visitor, 'offer.pdf', Buffer.from('x'));
    const message = { recipientHashId: account.hash_id, body: 'See "attachments"', attachments: [body.data.urn] };
    await t.rejects(visitor.api('/api/messages', message));
    t.match(await ledgerOf(network, 'ada'), [{ kind: 'attachment', text: 'See "attachments"' }]);
  });

  t.test('a sample has as many bytes as its name says', async (t) => {
    const answer = await visitor.send(`${FILES}/samples/3000000.bin`);
    t.equal(answer.headers['content-length'], '3000000');
    const hash = createHash('sha256');
    for await (const chunk of answer.body) hash.update(chunk as Buffer);
    const expected = Buffer.from(Array.from({ length: 3_000_000 }, (_, place) => place % 251));
    t.equal(hash.digest('hex'), createHash('sha256').update(expected).digest('hex'));
    t.equal((await visitor.page(`${FILES}/samples/999999999.bin`)).status, 404);
  });

  t.test('pictures need no session', async (t) => {
    const signedOut = await Visitor.from(t, network);
    const { data } = await visitor.list<{ pictureUrl: string | null }>('/api/connections');
    const url = data.find((row) => row.pictureUrl !== null)?.pictureUrl ?? '';
    const answer = await signedOut.send(url);
    t.equal(answer.headers['content-type'], 'image/png');
    t.equal(Buffer.from(await answer.body.arrayBuffer()).toString('latin1', 1, 4), 'PNG');
  });

  t.test('some addresses have moved', async (t) => {
    t.match(await visitor.page(`${FILES}/moved/samples/5.bin`), { status: 302, location: '/samples/5.bin' });
    t.match(await visitor.page(`${FILES}/away`), { status: 302, location: 'https://www.example.com/' });
  });
});
