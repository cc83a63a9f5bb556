import t from 'tap';
import { control, dataDirectory, ledgerOf, startedNetwork } from './fixture.js';
import { type Person, signedIn, type Visitor } from './visitor.js';

type Outcome = { data: { code: string; invitationId: string | null } };
type Sent = {
  data: { invitationId: string; recipient: Person; message: string | null }[];
  paging: { nextStart: number | null; total: number | null };
};

async function allSent(visitor: Visitor): Promise<{ rows: Sent['data']; pages: number[] }> {
  const rows: Sent['data'] = [];
  const pages: number[] = [];
  for (let start: number | null = 0; start !== null; ) {
    const { data, paging }: Sent = (await visitor.api<Sent>(`/api/invitations/sent?start=${start}`)).body;
    rows.push(...data);
    pages.push(data.length);
    start = paging.nextStart;
  }
  return { rows, pages };
}

t.test('invitations', async (t) => {
  const directory = await dataDirectory(t);
  const network = await startedNetwork(t, directory);
  const visitor = await signedIn(t, network, 'ada');
  const invite = (recipientHashId: string, message?: string) =>
    visitor.api<Outcome>('/api/invitations', { recipientHashId, ...(message === undefined ? {} : { message }) });
  const account = (username: string) => control<{ hash_id: string }>(network, 'POST', '/accounts', { username });

  t.test('the pending ones come in windows of ten, some of them short', async (t) => {
    const { rows, pages } = await allSent(visitor);
    t.ok(
      pages.slice(0, -1).some((length) => length > 0 && length < 10),
      pages.join(),
    );
    t.equal(new Set(rows.map((row) => row.invitationId)).size, rows.length);
    const counted = await visitor.api<Sent>('/api/invitations/sent?includeTotal=true');
    t.equal(counted.body.paging.total, rows.length);
    t.same((await visitor.api('/api/invitations/sent?start=100000')).body, {
      data: [],
      paging: { start: 100000, nextStart: null, total: null },
    });
    t.equal((await visitor.api('/api/invitations/sent?start=5')).status, 400);
  });

  t.test('a new one is first among the pending, in the profile and in the ledger', async (t) => {
    const grace = (await account('grace')).hash_id;
    const sent = await invite(grace, 'Shall we connect?');
    t.match(sent, { status: 201, body: { data: { code: 'INVITATION_SENT' } } });
    const [first] = (await allSent(visitor)).rows;
    t.match(first, {
      invitationId: sent.body.data.invitationId,
      message: 'Shall we connect?',
      recipient: { hashId: grace },
    });
    t.match(await visitor.api(`/api/profiles/${first?.recipient.publicId}`), {
      body: { data: { pendingInvitation: true } },
    });
    t.match(await ledgerOf(network, 'ada'), [{ kind: 'invitation', target: grace, text: 'Shall we connect?' }]);
    t.match(await invite(grace), { status: 200, body: { data: { code: 'INVITATION_PENDING' } } });
    t.equal((await ledgerOf(network, 'ada')).length, 1);
  });

  t.test('an accepted one makes a connection', async (t) => {
    const { hash_id: hashId } = await account('grace');
    const data = { hashId };
    const type = 'custom_connection_request_accepted';
    await control(network, 'POST', '/stream', { account: 'ada', action: 'emit', type, data });
    t.match(await invite(hashId), { status: 200, body: { data: { code: 'ALREADY_CONNECTED', invitationId: null } } });
    const [newest] = (await visitor.list<Person>('/api/connections?count=1')).data;
    t.equal(newest?.hashId, hashId);
    t.notOk((await allSent(visitor)).rows.some((row) => row.recipient.hashId === hashId));
  });

  t.test('what cannot be sent says so', async (t) => {
    t.match(await invite('ACoAAunknown'), { status: 404, body: { error: { code: 'not_found' } } });
    t.match(await invite((await account('ada')).hash_id), { status: 422, body: { error: { code: 'self_target' } } });
    t.equal((await invite((await account('grace')).hash_id, 'x'.repeat(301))).status, 400);
    t.equal((await ledgerOf(network, 'ada')).length, 1);
  });

  t.test('they outlive a restart', async (t) => {
    await invite((await account('kay')).hash_id, 'Remember me');
    const before = await allSent(visitor);
    await network.kill();
    const again = await signedIn(t, await startedNetwork(t, directory), 'ada');
    t.same((await allSent(again)).rows, before.rows);
  });
});
