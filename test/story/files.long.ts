import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { Pool } from 'undici';
import { clearOwnLimit, setOwnLimit } from '../../storage/workspaces/limits.js';
import { eventually } from '../fixture/eventually.js';
import { serviceFixture, startService } from '../fixture/service.js';
import { AT_LENGTH, sized } from '../fixture/size.js';

type Row = Record<string, unknown>;

const MIB = 2 ** 20;
/** Far more than what is stored and answered at a time, and no multiple of it. */
const FILE_bytes = sized(9_500_002, 95_000_002);
/** Some parts. */
const SMALLER_bytes = 2_000_002;
const sample = (bytes: number) => `https://files.social.test/samples/${bytes}.bin`;

/** The most memory the process ever held. */
async function peak(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) * 1_024;
}

/** What the network gives as a sample. */
function sampleDigest(bytes: number): string {
  const pattern = Buffer.from(Array.from({ length: 251 }, (_, i) => i));
  const hash = createHash('sha256');
  let left = bytes;
  for (; left >= pattern.length; left -= pattern.length) hash.update(pattern);
  return hash.update(pattern.subarray(0, left)).digest('hex');
}

function digestOf(operation: Row): string {
  const bytes = Buffer.from(String((operation.result as Row).data_base64), 'base64');
  return createHash('sha256').update(bytes).digest('hex');
}

t.test('a file of any size is stored and answered as it comes', async (t) => {
  const fixture = await serviceFixture(t);
  const { client, url, process: service } = await startService(t, fixture);
  const account = { provider: 'social', username: 'ada', password: 'sandbox', region: 'us' };
  const connection = await client.connect(account);
  t.match(await client.run(connection, 'social.login'), { status: 'succeeded' });
  const empty = { url: sample(0) };
  t.match((await client.run(connection, 'social.file.download', empty)).result, { size: 0, data_base64: '' });

  const before = await peak(service.pid);
  const submitted = await client.submit(connection, 'social.file.download', { url: sample(FILE_bytes) });
  const id = submitted.body.id;
  const parts = async () =>
    (await fixture.db.query<Row>('testParts', 'select part from operation_file where operation_id = $1', [id])).length;

  await t.test('it comes back whole, with its length said before', async (t) => {
    // What is stored meanwhile must not be read: asking for the operation without its file is waiting for its row.
    const ended = "select 1 from operation where id = $1 and status not in ('queued', 'running')";
    await eventually(
      'the download has ended',
      () => fixture.db.query('testEnded', ended, [id]),
      (rows) => rows.length > 0,
    );
    const stored = await peak(service.pid);
    const { status, headers, body } = await client.send('GET', `/v1/operations/${id}`);
    t.equal(status, 200);
    t.match(body, { status: 'succeeded', result: { size: FILE_bytes, content_type: 'application/octet-stream' } });
    t.match(Object.keys(body.result as Row).sort(), ['content_type', 'data_base64', 'size', 'state_revision']);
    t.ok(Number(headers['content-length']) > (FILE_bytes / 3) * 4);
    t.equal(digestOf(body), sampleDigest(FILE_bytes));
    const held = { storing: stored - before, answering: (await peak(service.pid)) - stored };
    t.comment(`MiB more: ${JSON.stringify(held, (_, value) => (value.toFixed ? Math.round(value / MIB) : value))}`);
    const whole = (FILE_bytes / 3) * 4; // as the text it is answered as
    // What a process takes beside it comes to as much as a small file.
    if (AT_LENGTH) t.ok(held.storing < whole && held.answering < whole, 'and was never held whole');
    t.ok((await parts()) > FILE_bytes / MIB, 'in parts');
  });

  await t.test('a client that goes away in the middle costs no other client anything', async (t) => {
    const pool = new Pool(url, { connections: 1 });
    const headers = { authorization: `Bearer ${client.key}` };
    const answer = await pool.request({ method: 'GET', path: `/v1/operations/${id}`, headers });
    for await (const _ of answer.body) break;
    await pool.destroy();
    t.match((await client.send('GET', '/v1/operations?limit=1&status=failed')).body, { operations: [] });
  });

  await t.test('every other answer that shows the operation shows it, too', async (t) => {
    const input = { url: sample(SMALLER_bytes) };
    await client.run(connection, 'social.file.download', input);
    const { body: accepted } = await client.submit(connection, 'social.file.download', input, 'again');
    await client.settled(accepted.id);
    const replayed = await client.submit(connection, 'social.file.download', input, 'again');
    t.match(replayed, { status: 200, headers: { 'idempotency-replayed': 'true' } });
    const late = await client.send('POST', `/v1/operations/${accepted.id}/cancel`);
    const { body } = await client.send('GET', `/v1/operations?connection_id=${connection}&limit=2`);
    const shown = [replayed.body, late.body, ...(body.operations as Row[])];
    t.strictSame(shown.map(digestOf), Array(4).fill(sampleDigest(SMALLER_bytes)));
  });

  await t.test('one that the workspace may not store fails, and nothing of it is left', async (t) => {
    const { body: limits } = await client.send('GET', '/v1/limits');
    const { used } = limits.stored_mib as { used: number };
    const limit = { workspace_id: fixture.workspaceId, name: 'stored_mib' } as const;
    await setOwnLimit(fixture.db, { ...limit, value: Math.ceil(used) + 1 });
    const { body } = await client.submit(connection, 'social.file.download', { url: sample(FILE_bytes) });
    const { status, error_code, error_details, result } = await client.settled(body.id);
    t.match(
      { status, error_code, error_details, result },
      {
        status: 'failed',
        ...{ error_code: 'storage_full', error_details: { retryable: false }, result: null },
      },
    );
    const count = 'select count(*)::int as parts from operation_file where operation_id = $1';
    t.strictSame(await fixture.db.query<Row>('testLeft', count, [body.id]), [{ parts: 0 }]);
    await clearOwnLimit(fixture.db, limit);
  });

  await t.test('it goes with its connection', async (t) => {
    t.ok((await parts()) > 0);
    t.equal((await client.send('DELETE', `/v1/connections/${connection}`)).status, 204);
    await eventually('its parts are removed', parts, (left) => left === 0);
  });
});
