import { METRICS } from '../metrics/catalogue.js';
import { VARIABLES, type Variable } from '../start/variables.js';
import { markdownTable } from './table.js';

/** The tables of the root README that are made from records, by the name in their markers. */
const TABLES: Record<string, () => string> = { variables: variableTable, metrics: metricTable };

/**
 * The page with its tables as the records give them. A table stands between `<!-- name -->` and `<!-- /name -->`.
 * @throws Error when the page lacks the markers of a table
 */
export function withTables(page: string): string {
  return Object.entries(TABLES).reduce((text, [name, table]) => {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`the page lacks ${begin} … ${end}`);
    return `${text.slice(0, from + begin.length)}\n\n${table()}\n\n${text.slice(to)}`;
  }, page);
}

function variableTable(): string {
  const rows = Object.entries<Variable>(VARIABLES).map(([name, variable]) => [
    `\`${name}\``,
    defaultOf(variable),
    variable.wants,
    variable.meaning,
  ]);
  return markdownTable(['variable', 'default', 'wants', 'what it does'], rows);
}

function defaultOf({ default: usual, defaultInWords }: Variable): string {
  if (defaultInWords !== undefined) return defaultInWords;
  return typeof usual === 'string' ? `\`${usual}\`` : 'none';
}

function metricTable(): string {
  const rows = METRICS.map(({ name, type, labels, meaning }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    meaning,
  ]);
  return markdownTable(['metric', 'type', 'labels', 'meaning'], rows);
}
