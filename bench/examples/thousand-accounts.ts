import { call, settled, simulated, submit } from './api.js';

/**
 * Many accounts, one operation each, some at a time. Accounts of an earlier run are found again by their names, so the program can be
 * stopped and started; a refusal because of load is waited out by `call`.
 */

const ACCOUNTS = Number(process.env.ACCOUNTS ?? 1000);
const AT_ONCE = 32;
const run = process.env.RUN ?? new Date().toISOString();

interface Connection {
  id: string;
  external_actor: { id: string };
}

const known = new Map<string, string>();
for (let cursor = ''; ; ) {
  const page: { connections: Connection[]; next_cursor: string | null } = await call(
    'GET',
    `/v1/connections?limit=100${cursor}`,
  );
  for (const { id, external_actor } of page.connections) known.set(external_actor.id, id);
  if (!page.next_cursor) break;
  cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
}
console.log(`${known.size} accounts are there already`);

const ends = new Map<string, number>();
const started = performance.now();
let next = 0;
await Promise.all(Array.from({ length: AT_ONCE }, worker));
const seconds = (performance.now() - started) / 1000;
console.log(`${ACCOUNTS} accounts in ${seconds.toFixed(1)} s: ${JSON.stringify(Object.fromEntries(ends))}`);
process.exitCode = ends.get('succeeded') === ACCOUNTS ? 0 : 1;

async function worker(): Promise<void> {
  while (next < ACCOUNTS) {
    const actor = `example-${next++}`;
    const connection = known.get(actor) ?? (await simulated(actor));
    // The same run started again asks for the same operations, and gets their answers.
    const accepted = await submit(connection, 'social.identity.get', {}, `${run} ${actor}`);
    const { status } = await settled(accepted);
    ends.set(status, (ends.get(status) ?? 0) + 1);
  }
}
