import type { Sql } from '../postgres/database.js';

/**
 * The secrets that sign the callbacks of a subscription (EVT-12): its own, and each earlier one until its `valid_until`. A rotation
 * keeps what it replaces in `former_secret`.
 */

/** The earlier secrets of the subscription `id` that sign now, an SQL expression: the newest first. Index: former_secret_by_subscription. */
export const formerSecrets = (id: string): string =>
  `array(select f.secret_sealed from former_secret f where f.subscription_id = ${id} and f.valid_until > now()
     order by f.valid_until desc)`;

/** The secrets that sign for the subscription now, the newest first, and what time it is. Undefined when it is gone. */
export async function sealedSecrets(sql: Sql, id: string): Promise<{ sealed: Buffer[]; at: Date } | undefined> {
  const [row] = await sql.query<{ sealed: Buffer[]; at: Date }>(
    'sealedSecrets',
    `select array_prepend(s.secret_sealed, ${formerSecrets('s.id')}) as sealed, now() as at from subscription s where s.id = $1`,
    [id],
  );
  return row;
}

/** How long an earlier secret goes on signing, and how many may. */
export interface RotationBounds {
  secret_overlap_hours: number;
  former_secrets: number;
}

/**
 * The new secret signs first from now on, the one before it for `secret_overlap_hours` more: gives until when. Undefined, and nothing is
 * changed, while as many as may sign do already. Its subscription is locked, so that rotations count each other. Secrets whose
 * time is over are deleted.
 */
export async function rotateSecret(
  tx: Sql,
  id: string,
  secretSealed: Buffer,
  { secret_overlap_hours, former_secrets }: RotationBounds,
): Promise<Date | undefined> {
  const [row] = await tx.query<{ valid_until: Date }>(
    'rotateSecret',
    `with over as (
       delete from former_secret where subscription_id = $1 and valid_until <= now()
     ), held as materialized (
       select id, secret_sealed from subscription
       where id = $1 and (select count(*) from former_secret where subscription_id = $1 and valid_until > now()) < $4 for no key update
     ), rotated as (
       update subscription s set secret_sealed = $2 from held h where s.id = h.id
     )
     insert into former_secret (subscription_id, secret_sealed, valid_until)
     select id, secret_sealed, now() + $3 * interval '1 hour' from held returning valid_until`,
    [id, secretSealed, secret_overlap_hours, former_secrets],
  );
  return row?.valid_until;
}
