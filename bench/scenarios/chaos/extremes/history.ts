import { LIMITS } from '../limits.js';
import type { ChaosDatabase } from '../parts/database.js';

/** A UUIDv7 of a time that is a day ahead, another one for each connection and number. */
const AHEAD = `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint + 86400000 + n), 12, '0') || '7'
  || substr(md5(c.id::text || n), 1, 3) || '8' || substr(md5(c.id::text || n), 5, 15))::uuid`;

/** Without triggers and foreign keys: nobody is told of these, and nothing refers to them. */
const UNNOTICED = 'set session_replication_role = replica;';

/**
 * Gives each simulated connection operations that were canceled, whose ids are a day ahead, as a node with a wrong clock leaves them. All of
 * them lie behind the mark of any mailbox: statements that look there for what has not ended look through them, and take longer.
 */
export async function addHistory(database: ChaosDatabase): Promise<void> {
  await database.query(`${UNNOTICED}
    insert into operation (id, workspace_id, connection_id, partition, capability, status, idempotency_key, fingerprint, input)
    select ${AHEAD}, c.workspace_id, c.id, c.partition, 'social.identity.get', 'canceled', 'history ' || c.id || n, '', '{}'
    from connection c cross join generate_series(1, ${LIMITS.history_operations}) n where c.provider = 'simulated'`);
  await database.query('vacuum analyze operation');
}

/** Takes them away again: no client asked for them. */
export async function removeHistory(database: ChaosDatabase): Promise<void> {
  await database.query(`${UNNOTICED} delete from operation where idempotency_key like 'history %'`);
}
