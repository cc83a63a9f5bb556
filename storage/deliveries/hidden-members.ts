import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import { LIST_START } from '../postgres/list-place.js';

/**
 * The members of connections that are deleted, until their rows are gone: nothing of them is shown. Page by page, each bounded, so that the index
 * connection_deleted is used whatever is known of the table; there is none but after deletions.
 */
export async function hiddenMembers(sql: Sql, parentId: string): Promise<string[]> {
  const hidden: string[] = [];
  for (let after = LIST_START.id; ; ) {
    const page = await sql.query<{ connection_id: string; id: string | null }>(
      'hiddenMembers',
      `select gone.id as connection_id, s.id from (
         select id from connection where deleted_at is not null and id > $2 order by id limit $3) gone
       left join lateral (select id from subscription where connection_id = gone.id and parent_id = $1 offset 0) s on true
       order by gone.id`,
      [parentId, after, LIMITS.removal_connections],
    );
    hidden.push(...page.flatMap(({ id }) => id ?? []));
    const last = page.at(-1);
    if (!last || page.length < LIMITS.removal_connections) return hidden;
    after = last.connection_id;
  }
}
