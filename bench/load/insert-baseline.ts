import { v7 as uuidv7 } from 'uuid';
import { openDatabase } from '../../storage/postgres/database.js';

export interface Baseline {
  inserted: number;
  seconds: number;
  perSecond: number;
}

/**
 * The plain way to accept an operation: one transaction a row, prepared, over a pool of connections, into the real
 * `operation` table with its indexes and its foreign key. The comparison of the submit scenario. No part
 * of the service runs this SQL.
 */
export async function insertBaseline(options: {
  url: string;
  connectionIds: string[];
  seconds: number;
  connections: number;
}): Promise<Baseline> {
  const db = openDatabase({ url: options.url, maxConnections: options.connections, applicationName: 'baseline' });
  const started = performance.now();
  const until = started + options.seconds * 1000;
  let inserted = 0;
  const worker = async () => {
    while (performance.now() < until) {
      const connectionId = options.connectionIds[inserted % options.connectionIds.length];
      await db.query(
        'baselineInsert',
        `insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key,
           fingerprint, input, timeline)
         select $1, workspace_id, id, partition, 'social.profile.get', 'queued', $3, $4, $5, $6
         from connection where id = $2`,
        [
          uuidv7(),
          connectionId,
          `baseline-${uuidv7()}`,
          Buffer.alloc(32, 1),
          '{"profile_id":"ada-lovelace"}',
          '[{"from":null,"to":"queued","reason":"submitted","at":"2026-01-01T00:00:00.000Z"}]',
        ],
      );
      inserted++;
    }
  };
  try {
    await Promise.all(Array.from({ length: options.connections }, worker));
    const seconds = (performance.now() - started) / 1000;
    return { inserted, seconds, perSecond: inserted / seconds };
  } finally {
    await db.close();
  }
}
