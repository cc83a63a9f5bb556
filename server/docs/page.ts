import {
  HTTP_ERRORS,
  type HttpErrorCode,
  OPERATION_ERRORS,
  type OperationErrorCode,
} from '../../storage/model/error-codes.js';
import { CHECKS } from '../../storage/postgres/server-checks/checks.js';
import { METRICS } from '../metrics/catalogue.js';
import { VARIABLES, type Variable } from '../start/settings/variables.js';
import { markdownTable } from './table.js';

/** The tables of the operators' pages that are made from records, by page and by the name in their markers. */
export const TABLES: Record<string, Record<string, () => string>> = {
  'server/REFERENCE.md': {
    variables: variableTable,
    metrics: metricTable,
    'http-errors': httpErrorTable,
    'operation-errors': operationErrorTable,
  },
  'OPERATE.md': { 'database-checks': databaseCheckTable },
};

/**
 * The page of this name with its tables as the records give them. A table's place is between `<!-- name -->` and `<!-- /name -->`.
 * @throws Error when the page lacks the markers of a table
 */
export function withTables(name: string, page: string): string {
  return Object.entries(TABLES[name] ?? {}).reduce((text, [name, table]) => {
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
  const rows = METRICS.map(({ name, type, labels, meaning, bad }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    meaning,
    bad,
  ]);
  return markdownTable(['metric', 'type', 'labels', 'meaning', 'what a bad value means'], rows);
}

function databaseCheckTable(): string {
  const rows = CHECKS.map(({ name, wants, means, action }) => [name, wants, means, action]);
  return markdownTable(['check', 'wants', 'what it means otherwise', 'what to do'], rows);
}

function httpErrorTable(): string {
  const rows = Object.entries(HTTP_ERRORS).map(([code, { status, retryable }]) => [
    `\`${code}\``,
    String(status),
    retryable ? 'yes' : '',
    HTTP_ERRORS[code as HttpErrorCode].meaning,
  ]);
  return markdownTable(['code', 'status', 'may help to repeat', 'meaning'], rows);
}

function operationErrorTable(): string {
  const rows = Object.entries(OPERATION_ERRORS).map(([code, { retryable }]) => [
    `\`${code}\``,
    retryable ? 'yes' : '',
    OPERATION_ERRORS[code as OperationErrorCode].meaning,
  ]);
  return markdownTable(['`error_code`', 'may help to submit anew', 'meaning'], rows);
}
