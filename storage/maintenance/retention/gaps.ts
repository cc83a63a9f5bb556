import { type Erasure, FIRST_ID } from './erasure.js';

/** Gaps of streams that were closed before; an open one is passed, and looked at again in the next round. Index: listener_gap_pkey. */
export const eraseGaps: Erasure = async (tx, after, { time, id }, rows) => {
  const [slice] = await tx.query<{ erased: number; last: string | null }>(
    'eraseGaps',
    `with page as materialized (
       select id, closed_at from listener_gap where id > $1 and id < $2 order by id limit $4
     ), gone as (
       delete from listener_gap g using page p where g.id = p.id and p.closed_at < $3 returning 1
     )
     select (select count(*)::integer from gone) as erased, (select id from page order by id desc limit 1) as last`,
    [after ?? FIRST_ID, id, time, rows],
  );
  return slice ?? { erased: 0, last: null };
};
