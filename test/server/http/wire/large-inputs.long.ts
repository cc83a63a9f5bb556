import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { eventually } from '../../../fixture/eventually.js';
import type { RunningService } from '../../../fixture/service.js';
import { sized } from '../../../fixture/size.js';
import { keepAsking, neighbourhoodService, person, startNeighbourhood } from '../../neighbour.js';

/*
 * Inputs of the largest size, as many at once as a client likes: memory stays within a bound, each is answered 202 or 503, and small
 * submissions of another workspace go on meanwhile.
 */

const ATTACHMENT = { recipient_actor_id: 'ada', filename: 'a.bin', content_type: 'application/octet-stream' };
const BODY = Buffer.from(
  JSON.stringify({
    capability: 'social.attachment.send',
    input: { ...ATTACHMENT, data_base64: Buffer.alloc(1_000_000, 'abcdefg').toString('base64') },
  }),
);
const CONNECTIONS = 32;
/** BODY_MEMORY_MIB, and as much again: what is done with a few of them at a time, and what the heaps of two threads keep before they are cleared. */
const BOUND_mib = 512;

async function rss_mib({ process: { pid } }: RunningService): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

async function setUp(t: Test) {
  const neighbourhood = await startNeighbourhood(t, neighbourhoodService(t));
  const { service, neighbour, connection } = neighbourhood;
  const greedy: string[] = [];
  for (let n = 0; n < CONNECTIONS; n++) greedy.push(await service.client.connect(person(`greedy-${n}`)));
  const dispatcher = new Agent({ connections: 256 });
  t.teardown(() => dispatcher.close());
  const attach = async (n: number) => {
    const answer = await request(`${service.url}/v1/connections/${greedy[n % CONNECTIONS]}/operations`, {
      method: 'POST',
      dispatcher,
      headers: {
        authorization: `Bearer ${service.key}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: BODY,
    });
    answered++;
    const body = (await answer.body.json()) as { id: string; code?: string };
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], body };
  };
  let answered = 0;
  const smallSubmits = () => keepAsking([() => neighbour.submit(connection, 'social.identity.get')], () => answered);
  return { service, attach, smallSubmits };
}

t.test('large inputs take bounded memory, and small ones go by them', async (t) => {
  const { service, attach, smallSubmits } = await setUp(t);
  t.equal((await attach(0)).status, 202);
  const quiet = smallSubmits();
  await quiet.done(50);
  t.comment(`quiet: ${JSON.stringify(await quiet.stop())}`);
  const before = await rss_mib(service);
  for (const count of sized([64], [64, 256])) {
    const small = smallSubmits();
    let peak = 0;
    let sending = true;
    const watch = (async () => {
      while (sending) {
        peak = Math.max(peak, await rss_mib(service));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const answers = await Promise.all(Array.from({ length: count }, (_, n) => attach(n)));
    const accepted = answers.filter(({ status }) => status === 202);
    const refused = answers.filter(({ status }) => status === 503);
    t.equal(accepted.length + refused.length, count, `${answers.map(({ status }) => status)}`);
    for (const { body, retryAfter } of refused) t.strictSame([body.code, retryAfter], ['overloaded', '1']);
    t.ok(accepted.length > 0, `${accepted.length} accepted`);
    // However late the node was, there is room again.
    accepted.push(
      await eventually(
        'another one is accepted',
        () => attach(count),
        ({ status }) => status === 202,
      ),
    );
    for (const { body } of accepted) {
      const { status } = await eventually(
        'it ends',
        () => service.client.settled(body.id),
        () => true,
      );
      if (status !== 'succeeded') t.fail(`${body.id}: ${status}`);
    }
    sending = false;
    await watch;
    const others = await small.stop();
    const grown_mib = Math.round(peak - before);
    t.comment(JSON.stringify({ count, accepted: accepted.length, refused: refused.length, grown_mib, others }));
    t.strictSame(others.refused, []);
    t.ok(others.p99_ahead < count / 2, `${others.p99_ahead} of ${count} ahead of a small one`);
    t.ok(grown_mib < BOUND_mib, `${grown_mib} MiB`);
  }
});
