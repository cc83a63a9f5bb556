/** A node of an executed plan, as `explain (analyze, format json)` tells it; only what is read here. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

export function readPlan(answer: unknown): { plan: PlanNode; blocks: number } {
  const [{ Plan: plan }] = answer as [{ Plan: PlanNode & Record<'Shared Hit Blocks' | 'Shared Read Blocks', number> }];
  return { plan, blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}

export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** The rows that a node has looked at, those too that it left out. */
export function rowsOf(node: PlanNode): number {
  const perLoop =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return Math.round(perLoop * node['Actual Loops']);
}
