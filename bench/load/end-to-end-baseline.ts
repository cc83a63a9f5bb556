import { v7 as uuidv7 } from 'uuid';
import { openDatabase } from '../../storage/postgres/database.js';

const STEP = '[{"from":null,"to":"queued","reason":"submitted","at":"2026-01-01T00:00:00.000Z"}]';
const RESULT = '{"profile":{"public_id":"ada-lovelace","first_name":"Ada","last_name":"Lovelace"}}';

/**
 * The plain way to run an operation: it is stored, started and ended, each a transaction of one row, prepared, over a pool of connections,
 * in a table like the real one. Gives how many operations a second went through. No part of the service runs this SQL.
 */
export async function plainRuns(url: string, seconds: number, connections: number): Promise<number> {
  const db = openDatabase({ url, maxConnections: connections, applicationName: 'baseline' });
  try {
    await db.query('baselineTable', 'create table if not exists bench_operation (like operation including all)');
    const startedAt = performance.now();
    let ended = 0;
    const worker = async () => {
      while (performance.now() - startedAt < seconds * 1_000) {
        const id = uuidv7();
        await db.query(
          'baselineStore',
          `insert into bench_operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key,
             fingerprint, input, timeline)
           values ($1, $1, $1, 0, 'social.profile.get', 'queued', $2, '\\x00', '{"profile_id":"ada-lovelace"}', $3)`,
          [id, `baseline-${id}`, STEP],
        );
        await db.query(
          'baselineStart',
          `update bench_operation set status = 'running', epoch = 1, attempts = '[{"number":1,"status":"running"}]',
             timeline = timeline || $2::jsonb, updated_at = now() where id = $1 and status = 'queued'`,
          [id, STEP],
        );
        await db.query(
          'baselineEnd',
          `update bench_operation set status = 'succeeded', result = $3, attempts = '[{"number":1,"status":"succeeded"}]',
             timeline = timeline || $2::jsonb, updated_at = now() where id = $1 and status = 'running'`,
          [id, STEP, RESULT],
        );
        ended++;
      }
    };
    await Promise.all(Array.from({ length: connections }, worker));
    return ended / ((performance.now() - startedAt) / 1_000);
  } finally {
    await db.close();
  }
}
