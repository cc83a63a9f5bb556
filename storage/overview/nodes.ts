import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import { MEASURES, type ToldMeasures } from './steps.js';

/** A node, and the partitions whose lease it holds. */
export interface NodeView {
  id: string;
  /** By its heartbeat: younger than `late_ms`, than `gone_ms`, or neither. */
  state: 'alive' | 'late' | 'gone';
  started_at: Date;
  heartbeat_at: Date;
  partitions: { id: number; epoch: number; lease_ms: number }[];
  /** What it told of itself last; null: nothing within `LIMITS.overview_recent_ms`. */
  measures: ToldMeasures | null;
}

/**
 * The nodes that have a row, the longest started first, at most `LIMITS.operator_list_rows`. Every time is compared on the database's clock.
 * A node that was killed keeps its row for a while; a partition whose lease has run out is nobody's. Index: overview_step_key.
 */
export function listNodes(sql: Sql, late_ms: number, gone_ms: number): Promise<NodeView[]> {
  return sql.query<NodeView>(
    'listNodes',
    `select n.id, n.started_at, n.heartbeat_at,
       case when n.heartbeat_at > now() - $1 * interval '1 millisecond' then 'alive'
         when n.heartbeat_at > now() - $2 * interval '1 millisecond' then 'late' else 'gone' end as state,
       coalesce((
         select jsonb_agg(jsonb_build_object('id', p.id, 'epoch', p.epoch,
           'lease_ms', round(extract(epoch from p.lease_until - now()) * 1000)) order by p.id)
         from partition p where p.node_id = n.id and p.lease_until > now()
       ), '[]') as partitions,
       (select to_jsonb(m) from (
         select ${MEASURES} from overview_step o
         where o.workspace_id is null and o.step > now() - interval '${LIMITS.overview_recent_ms} milliseconds' and o.node_id = n.id
         order by o.step desc limit 1
       ) m) as measures
     from node n order by n.started_at, n.id limit $3`,
    [late_ms, gone_ms, LIMITS.operator_list_rows],
  );
}
