import t from 'tap';
import { SITES } from '../fixture/network.js';
import { iso, onceEach, type Row, socialFixture } from '../fixture/social.js';
import { ids, profileOf } from './expected.js';

for (const site of SITES) {
  t.test(`who the account is and whom it knows, as the network says it, on ${site}`, async (t) => {
    const { client, connection, visitor, read } = await socialFixture(t, 'ada', site);
    const me = (await visitor.api<{ data: Row }>('/api/me')).body.data;

    t.test('health and identity', async (t) => {
      t.strictSame(await read('social.health.check'), { health: 'ready', actor_id: me.hashId });
      t.strictSame(await read('social.identity.get'), {
        actor_id: me.hashId,
        hash_id: me.hashId,
        public_id: me.publicId,
        member_id: me.memberId,
        firstName: me.firstName,
        lastname: me.lastName,
        headline: me.headline,
        ...(me.pictureUrl !== null && { avatar: me.pictureUrl }),
      });
    });

    t.test('every connection once, page by page, and their hash ids', async (t) => {
      const known: Row[] = [];
      for (let start = 0; ; start += 50) {
        const { data } = await visitor.list<Row>(`/api/connections?count=50&start=${start}`);
        if (data.length === 0) break;
        known.push(...data);
      }
      const seen: Row[] = [];
      for (;;) {
        const { connections } = await read<{ connections: Row[] }>('social.connections.list', {
          count: 50,
          start: seen.length,
        });
        if (connections.length === 0) break;
        seen.push(...connections);
      }
      onceEach(t, ids(seen, 'hash_id'), ids(known, 'hashId'), 'connection');
      t.strictSame(
        seen,
        known.map((one) => ({
          hash_id: one.hashId,
          public_id: one.publicId,
          first_name: one.firstName,
          last_name: one.lastName,
          headline: one.headline,
          avatar: one.pictureUrl,
          ...(one.connectedAt !== null && { connected_at: iso(one.connectedAt) }),
        })),
      );
      const { connections } = await read<{ connections: Row[] }>('social.connections.list');
      t.strictSame(connections, seen.slice(0, 25), '25 from the first, when nothing else is said');

      const public_ids = [...ids(seen, 'public_id').slice(0, 3), 'nobody-at-all'];
      t.strictSame(await read('social.hash_ids.resolve', { public_ids }), {
        hash_ids: Object.fromEntries(
          public_ids.map((id, i) => [id, seen[i]?.public_id === id ? seen[i]?.hash_id : null]),
        ),
      });
    });

    t.test('a profile in full, near and far', async (t) => {
      const near = (await visitor.list<Row>('/api/connections?count=1')).data[0];
      const { data } = await visitor.list<Row>('/api/search/people?network=O&count=1');
      for (const profile_id of [near?.publicId, data[0]?.publicId]) {
        const theirs = (await visitor.api<{ data: Row }>(`/api/profiles/${profile_id}`)).body.data;
        t.strictSame(await read('social.profile.get', { profile_id }), { profile: profile(theirs) });
      }
      const unknown = await client.run(connection, 'social.profile.get', { profile_id: 'nobody-at-all' });
      t.match(unknown, {
        status: 'failed',
        error_code: 'provider_not_found',
        error_details: { retryable: false, upstream_status: 404 },
      });
    });

    t.test('a company by each of its names, without what is empty', async (t) => {
      const found = (await visitor.list<Row>('/api/typeahead?kind=company&q=a&count=25')).data;
      for (const { id } of found.slice(0, 4)) {
        const theirs = (await visitor.api<{ data: Row }>(`/api/companies?companyId=${id}`)).body.data;
        const expected = { company: company(theirs) };
        t.strictSame(await read('social.company.get', { company_id: id }), expected);
        t.strictSame(await read('social.company.get', { public_id: theirs.publicId }), expected);
        t.strictSame(await read('social.company.get', { company_name: String(theirs.name).toUpperCase() }), expected);
      }
      t.match(await client.run(connection, 'social.company.get', { company_id: '1' }), {
        status: 'failed',
        error_code: 'provider_not_found',
      });
    });

    t.test('every pending invitation once, over pages that are not full', async (t) => {
      const strangers = (await visitor.list<Row>('/api/search/people?network=O&count=50')).data;
      for (const { hashId } of strangers.slice(0, 24)) {
        await visitor.api('/api/invitations', { recipientHashId: hashId, message: 'Hello' });
      }
      const pending: Row[] = [];
      for (let start: number | null = 0; start !== null; ) {
        const page: { data: Row[]; paging: { nextStart: number | null } } = (
          await visitor.api<{ data: Row[]; paging: { nextStart: number | null } }>(
            `/api/invitations/sent?start=${start}`,
          )
        ).body;
        pending.push(...page.data);
        start = page.paging.nextStart;
      }
      const seen: Row[] = [];
      for (let start_index: unknown = 0; start_index !== null; ) {
        const page: Row = await read('social.invitations.sent.list', { start_index, include_total: start_index === 0 });
        const entries = page.entries as Row[];
        t.match(page, { count: entries.length, start_index, has_more: page.next_start_index !== null });
        t.ok(entries.length <= 10);
        t.strictSame('total' in page, start_index === 0, 'a total only when asked for');
        if (start_index === 0) t.equal(page.total, pending.length);
        seen.push(...entries);
        start_index = page.next_start_index;
      }
      onceEach(t, ids(seen, 'invitation_id'), ids(pending, 'invitationId'), 'invitation');
      t.strictSame(
        seen,
        pending.map(({ invitationId, sentAt, message, recipient }) => {
          const { hashId, publicId, firstName, lastName, headline } = recipient as Row;
          const name = `${firstName} ${lastName}`;
          return {
            invitation_id: invitationId,
            recipient_actor_id: hashId,
            public_id: publicId,
            name,
            headline,
            message,
            sent_at: iso(sentAt),
          };
        }),
      );
      const beyond = await read('social.invitations.sent.list', { start_index: 100_000 });
      t.match(beyond, { entries: [], count: 0, has_more: false, next_start_index: null });
    });

    t.equal((await client.send('GET', `/v1/connections/${connection}`)).body.health, 'ready');
  });
}

function profile(theirs: Row): Row {
  const contact = theirs.contact as Row;
  return {
    source: 'full',
    hash_id: theirs.hashId,
    ...profileOf(theirs),
    email: contact.email,
    address: contact.address,
    phone_numbers: contact.phoneNumbers,
  };
}

function company(theirs: Row): Row {
  const range = theirs.employeeCountRange as { start: number; end: number | null } | null;
  const place = (where: Row | null) => where && `${where.city}, ${where.country}`;
  const all: Row = {
    public_id: theirs.publicId,
    company_id: theirs.companyId,
    name: theirs.name,
    tagline: theirs.tagline,
    description: theirs.description,
    url: theirs.url,
    website: theirs.websiteUrl,
    phone: theirs.phone,
    employee_count: theirs.employeeCount,
    employee_count_range: range && (range.end === null ? `${range.start}+` : `${range.start}-${range.end}`),
    founded_year: theirs.foundedYear,
    industries: theirs.industries,
    industry: (theirs.industries as string[])[0],
    specialties: theirs.specialties,
    headquarter: place(theirs.headquarter as Row | null),
    locations: (theirs.locations as Row[]).map(place),
    logo_url: theirs.logoUrl,
    cover_image_url: theirs.coverImageUrl,
  };
  const full = ([, value]: [string, unknown]) =>
    value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(all).filter(full));
}
