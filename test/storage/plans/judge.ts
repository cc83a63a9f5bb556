import { growingTable } from './fill.js';
import { nodesOf, rowsOf } from './plan-nodes.js';
import type { Execution, Overdue } from './plan-session.js';
import { BLOCKS, type HotWork, ROWS, SORTED_ROWS } from './statement.js';

/** What is wrong with how a statement was executed on large tables: nothing, or a line each. */
export function faultsOf(work: HotWork, execution: Execution | Overdue, statistics: boolean): string[] {
  const { rows = ROWS, blocks = BLOCKS } = (!statistics && work.withoutStatistics) || work;
  if ('overdue' in execution) return ['takes seconds'];
  const nodes = nodesOf(execution.plan);
  const scans = nodes.filter(
    (node) => growingTable(node['Relation Name'] ?? '') && node['Node Type'] !== 'ModifyTable',
  );
  const faults: string[] = [];
  for (const [table, read] of Object.entries(execution.scanned))
    if (read > rows) faults.push(`scans ${table}: ${read} rows`);
  for (const node of scans) {
    const looked = rowsOf(node);
    const path = `${node['Node Type']} of ${node['Relation Name']} by ${node['Index Name'] ?? 'no index'}`;
    if (looked > rows) faults.push(`looks at ${looked} rows: ${path}`);
  }
  for (const node of nodes) {
    const sorted = node['Node Type'].includes('Sort') ? rowsOf(node) : 0;
    if (sorted > Math.max(SORTED_ROWS, rows)) faults.push(`sorts ${sorted} rows`);
  }
  if (execution.blocks > blocks) faults.push(`touches ${execution.blocks} pages`);
  return faults;
}
