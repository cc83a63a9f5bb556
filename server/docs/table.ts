/** A Markdown table whose columns stand under each other in the source. */
export function markdownTable(head: string[], rows: string[][]): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const rule = widths.map((width) => '-'.repeat(width));
  const [first = [], ...rest] = lines;
  return [first, rule, ...rest].map(line).join('\n');
}
