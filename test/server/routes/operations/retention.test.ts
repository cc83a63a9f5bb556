import t from 'tap';
import { subscriptionStats } from '../../../../storage/deliveries/subscription-stats.js';
import type { DeliveryStatus } from '../../../../storage/model/records.js';
import { insertSimulated } from '../../../fixture/rows.js';
import { daysAgo_ms, eraseAll, insertSubscription } from '../../../storage/maintenance/retention/fixture.js';
import { type EdgeUnderTest, startTestEdge } from '../../edge-fixture.js';
import { insertDeliveries } from '../../rows.js';

/** The ids of a list from the page of `offset` on, page after page as `next_offset` leads; `between` runs before each further page. */
async function pagesOf(
  { call }: EdgeUnderTest,
  { path, name, between }: { path: string; name: 'events' | 'deliveries'; between?: () => Promise<unknown> },
): Promise<string[]> {
  const ids: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { json } = await call('GET', `${path}${path.includes('?') ? '&' : '?'}offset=${offset}`);
    ids.push(...json[name].map((one: { id: string }) => one.id));
    offset = json.next_offset;
    if (offset !== null) await between?.();
  }
  return ids;
}

async function withHistory(t: Parameters<typeof startTestEdge>[0]) {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const subscriptionId = await insertSubscription(edge.db, id);
  const statuses = (rows: number) =>
    Array.from({ length: rows }, (_, i): DeliveryStatus => (i % 3 === 0 ? 'pending' : 'failed'));
  const old = await insertDeliveries(edge.db, subscriptionId, statuses(600), daysAgo_ms(40));
  const young = await insertDeliveries(edge.db, subscriptionId, statuses(150));
  const stays = <T>(all: T[]) => all.filter((_, i) => i % 3 === 0);
  const kept = {
    events: [...stays(old.events), ...young.events].toReversed(),
    deliveries: [...stays(old.deliveries), ...young.deliveries].toReversed(),
  };
  return {
    edge,
    old,
    young,
    kept,
    subscriptionId,
    events: `/v1/connections/${id}/events`,
    deliveries: `/v1/subscriptions/${subscriptionId}/deliveries`,
  };
}

t.test(
  'a client that pages while events are erased sees each that stays once, and afterwards those alone',
  async (t) => {
    const { edge, kept, ...paths } = await withHistory(t);
    const erase = () => eraseAll(edge.db, { events: 30 });
    for (const name of ['events', 'deliveries'] as const) {
      const seen = await pagesOf(edge, { path: paths[name], name, between: erase });
      t.equal(new Set(seen).size, seen.length, `none of the ${name} twice`);
      t.strictSame(
        seen.filter((id) => kept[name].includes(id)),
        kept[name],
        `and none of the ${name} that stay is left out`,
      );
      t.strictSame(await pagesOf(edge, { path: paths[name], name }), kept[name]);
    }
    const pending = await pagesOf(edge, { path: `${paths.deliveries}?status=pending`, name: 'deliveries' });
    t.equal(pending.length, 250);
  },
);

t.test('counts say what is there, and what is erased is not found', async (t) => {
  const { edge, old, kept, subscriptionId, events } = await withHistory(t);
  const { call, db } = edge;
  t.strictSame(await eraseAll(db, { events: 30 }), { deliveries: 400, events: 400 });
  t.match((await call('GET', `/v1/subscriptions/${subscriptionId}`)).json.delivery_counts, {
    pending: 250,
    failed: 100,
    delivered: 0,
  });
  const bounds = { counted: 200, deliveries: 10, attempts: 10 };
  t.match(
    await subscriptionStats(db, subscriptionId, bounds),
    { counts: { pending: 250, failed: 100 }, counts_capped: [] },
    'the one that is counted no further follows from the total',
  );
  t.equal((await call('GET', `/v1/events/${old.events[1]}`)).status, 404);
  t.equal((await call('GET', `/v1/deliveries/${old.deliveries[1]}`)).status, 404);
  t.equal((await call('POST', `/v1/deliveries/${old.deliveries[1]}/replay`)).status, 404);
  t.equal((await call('GET', `/v1/events/${old.events[0]}`)).status, 200);
  const { id } = (
    await call('POST', events.replace('/events', '/simulated-events'), { body: { type: 'message_received', data: {} } })
  ).json;
  t.strictSame(await pagesOf(edge, { path: events, name: 'events' }), [id, ...kept.events], 'a new one comes first');
});
