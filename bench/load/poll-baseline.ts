import { openDatabase } from '../../storage/postgres/database.js';

/** The plain way to poll an operation: a prepared select of its row by its id, over a pool of connections. Gives how many a second. */
export async function plainSelects(url: string, ids: string[], seconds: number, connections: number): Promise<number> {
  const db = openDatabase({ url, maxConnections: connections, applicationName: 'baseline' });
  try {
    const startedAt = performance.now();
    let read = 0;
    const worker = async () => {
      while (performance.now() - startedAt < seconds * 1_000) {
        await db.query('baselineSelect', 'select * from operation where id = $1', [ids[read++ % ids.length]]);
      }
    };
    await Promise.all(Array.from({ length: connections }, worker));
    return read / ((performance.now() - startedAt) / 1_000);
  } finally {
    await db.close();
  }
}
