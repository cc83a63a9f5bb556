/**
 * The common table `held`: the operation, while attempt $3 runs it under the epoch $2. It is locked: a recovery that commits first is
 * seen, and one that comes later waits, so that nothing of this attempt is written behind the next one's.
 */
export const HELD_ATTEMPT = `held as materialized (
       select o.id, o.connection_id from operation o
       where o.id = $1 and o.epoch = $2 and o.attempts -> -1 ->> 'id' = $3::uuid::text and o.status = 'running' for no key update
     )`;
