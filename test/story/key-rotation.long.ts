import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { Client } from '../fixture/client.js';
import { eventually } from '../fixture/eventually.js';
import { type RunningService, type ServiceFixture, serviceFixture, startService } from '../fixture/service.js';
import { sized } from '../fixture/size.js';

/*
 * The encryption key is changed as the page for operators tells it, while two nodes are restarted one by one and their clients go on. Inputs of
 * sends are stored sealed: whichever node runs one must open what any other has sealed.
 */

const ADMIN = fileURLToPath(new URL('../../server/admin.js', import.meta.url));
const FORMER = `former:${randomBytes(32).toString('base64')}`;
const NEXT = `next:${randomBytes(32).toString('base64')}`;
const CONNECTIONS = sized(2, 6);
/** Sends between two restarts, at least. */
const SENDS = sized(10, 100);
/** Of one client, between two sends: what counts is that sends come at every moment, not how many. */
const PACE_ms = 25;

async function admin(fixture: ServiceFixture, keys: string, ...args: string[]): Promise<Record<string, unknown>> {
  const env = { PATH: process.env.PATH, DATABASE_URL: fixture.databaseUrl, ENCRYPTION_KEYS: keys };
  return JSON.parse((await promisify(execFile)(process.execPath, [ADMIN, ...args], { env })).stdout);
}

const withKeys = (fixture: ServiceFixture, keys: string): ServiceFixture => ({
  ...fixture,
  env: { ...fixture.env, ENCRYPTION_KEYS: keys },
});

/**
 * Both nodes with these keys, restarted one after the other. After each restart both own partitions and take sends for a while:
 * each seals for the other with what it has.
 */
async function rolledTo(
  t: Test,
  fixture: ServiceFixture,
  nodes: RunningService[],
  keys: string,
  accepted: string[],
): Promise<void> {
  for (const [n, node] of [...nodes.entries()]) {
    t.equal(await node.stop(), 0);
    nodes[n] = await startService(t, withKeys(fixture, keys));
    await eventually(
      'both nodes own partitions',
      () => fixture.db.query('testOwners', 'select node_id from partition where lease_until > now() group by node_id'),
      (owners) => owners.length === 2,
    );
    const before = accepted.length;
    await eventually(
      'clients went on',
      () => accepted.length,
      (count) => count >= before + SENDS,
    );
  }
}

/** Sends messages until it is stopped, each to a node that answers, under the same key until it is accepted. */
function load(fixture: ServiceFixture, nodes: RunningService[], connections: string[]) {
  const accepted: string[] = [];
  let going = true;
  const client = async (n: number) => {
    for (let m = 0; going; m++) {
      const key = randomUUID();
      const input = { recipient_actor_id: 'somebody', body: `${n}/${m}` };
      const answer = await eventually(
        'a node accepts',
        () =>
          new Client(nodes[Math.floor(Math.random() * nodes.length)]!.url, fixture.key)
            .submit(connections[n]!, 'social.message.send', input, key)
            .catch(() => undefined),
        (one) => one?.status === 202 || one?.status === 200,
      );
      accepted.push(String(answer?.body.id));
      await delay(PACE_ms);
    }
  };
  const clients = connections.map((_, n) => client(n));
  return {
    accepted,
    async stop() {
      going = false;
      await Promise.all(clients);
    },
  };
}

t.test('the encryption key is changed during a rolling restart of two nodes under load: nothing is lost', async (t) => {
  const fixture = await serviceFixture(t, { BROWSER_PATH: '/bin/false', ACTOR_THREADS: '1' });
  const nodes = [await startService(t, withKeys(fixture, FORMER)), await startService(t, withKeys(fixture, FORMER))];
  const connections: string[] = [];
  for (let n = 0; n < CONNECTIONS; n++) {
    const actor = { kind: 'person', id: `sender-${n}` };
    connections.push(await nodes[0]!.client.connect({ provider: 'simulated', external_actor: actor }));
  }
  const sending = load(fixture, nodes, connections);

  await rolledTo(t, fixture, nodes, `${FORMER},${NEXT}`, sending.accepted);
  await rolledTo(t, fixture, nodes, `${NEXT},${FORMER}`, sending.accepted);
  const both = `${NEXT},${FORMER}`;
  const former = ({ sealed }: { sealed?: { key: string }[] }) => sealed?.filter(({ key }) => key === 'former') ?? [];
  t.not(former(await admin(fixture, both, 'encryption', 'status', '--all')).length, 0);
  await admin(fixture, both, 'encryption', 'rotate');
  t.strictSame(former(await admin(fixture, both, 'encryption', 'status', '--all')), []);
  await sending.stop();

  const unfinished = () =>
    fixture.db.query('testUnfinished', `select from operation where status in ('queued', 'running', 'waiting_user')`);
  await eventually('all have ended', unfinished, (rows) => rows.length === 0);
  const ends = await fixture.db.query<{ status: string; error_code: string | null; operations: number }>(
    'testEnds',
    'select status, error_code, count(*)::integer as operations from operation group by 1, 2',
  );
  const { accepted } = sending;
  t.strictSame(ends, [{ status: 'succeeded', error_code: null, operations: accepted.length }]);
  t.equal(new Set(accepted).size, accepted.length, 'each once');
  t.ok(accepted.length >= 4 * SENDS, `${accepted.length} sends`);
});
