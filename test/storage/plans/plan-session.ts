import pg from 'pg';
import { type Database, openDatabase, type Transaction } from '../../../storage/postgres/database.js';
import { TIME_LIMITS } from '../../../storage/postgres/time-limits.js';
import { growingTable } from './fill.js';
import { literal } from './literals.js';
import { type PlanNode, readPlan } from './plan-nodes.js';

/** The pools of the service: an actor thread's, that of requests, and that of leases and health. */
export type Pool = 'thread' | 'edge' | 'control';

/** What one execution of a statement did. */
export interface Execution {
  name: string;
  plan: PlanNode;
  /** Pages it touched. */
  blocks: number;
  /** Rows of growing tables that sequential scans read, those of its triggers and foreign keys too, by table. */
  scanned: Record<string, number>;
}

/** A statement that took longer than `MEASURED_ms`. */
export interface Overdue {
  name: string;
  overdue: true;
}

/** No statement on large tables takes near as long, on a busy machine either. */
const MEASURED_ms = 3_000;

/** One connection of a pool, opened as the service opens it. It keeps the plans that it made. */
export class PlanSession implements AsyncDisposable {
  readonly pool: Pool;
  readonly #db: Database;
  readonly #settings: Record<string, string>;
  /** The types of the parameters of each statement that is prepared. */
  readonly #prepared = new Map<string, string[]>();

  /** `settings` are those that a server's owner may have changed, and what decides between a plan for any parameters and one for these. */
  constructor(url: string, pool: Pool, settings: Record<string, string> = {}) {
    this.pool = pool;
    // Compiling takes longer than any of these statements, and changes no plan.
    this.#settings = { jit: 'off', ...settings };
    this.#db = openDatabase({
      ...{ url, limits: { ...TIME_LIMITS[pool], statement_ms: MEASURED_ms }, maxConnections: 1 },
      ...{ applicationName: 'plans', indexedPlans: pool === 'thread', onError: () => {} },
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#db.close();
  }

  /** Keeps the connection open, which would be closed when nobody used it for a while. */
  async touch(): Promise<void> {
    await this.#db.query('touch', 'select 1');
  }

  /** Plans what `work` runs, as often as makes the server keep a plan for any parameters where it thinks that cheaper. Changes nothing. */
  warm(work: Work): Promise<void> {
    return this.#undone(work, async (tx, name, values) => {
      for (let times = 0; times < 6; times++) await plain(tx, `explain ${this.#call(name, values)}`);
    });
  }

  /** Runs `work`, and measures each of its statements once before it counts. Changes nothing. */
  async measure(work: Work): Promise<(Execution | Overdue)[]> {
    const executions: (Execution | Overdue)[] = [];
    let under = '';
    try {
      await this.#undone(work, async (tx, name, values) => {
        under = name;
        const before = await scanned(tx);
        await plain(tx, 'savepoint measured');
        const text = `explain (analyze, buffers, format json) ${this.#call(name, values)}`;
        const [answer] = await plain<{ 'QUERY PLAN': unknown }>(tx, text);
        await plain(tx, 'rollback to measured');
        const after = await scanned(tx);
        executions.push({ name, ...readPlan(answer?.['QUERY PLAN']), scanned: difference(before, after) });
      });
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && error.code === '57014')) throw error;
      executions.push({ name: under, overdue: true });
    }
    return executions;
  }

  /** Runs `work` in a transaction that is rolled back; `before` is told of each of its statements, prepared, before it counts. */
  async #undone(
    work: Work,
    before: (tx: Transaction, name: string, values: unknown[]) => Promise<void>,
  ): Promise<void> {
    const undo = new Error('done');
    const within = async (tx: Transaction) => {
      for (const [name, value] of Object.entries(this.#settings)) await plain(tx, `set local ${name} = '${value}'`);
      const query: Transaction['query'] = async (name, text, values = []) => {
        if (/^set transaction/.test(text)) return []; // it is under way
        if (!this.#prepared.has(name)) {
          await plain(tx, 'savepoint prepared');
          await tx.query(name, text, values);
          await plain(tx, 'rollback to prepared');
          this.#prepared.set(name, await typesOf(tx, name));
        }
        if (/^\s*(select|with|insert|update|delete)\b/.test(text)) await before(tx, name, values);
        return tx.query(name, text, values);
      };
      const told = { ...tx, vault: tx.vault, query } as Transaction;
      await work({ ...this.#db, query, transaction: (inner) => inner(told) });
      throw undo;
    };
    await this.#db.transaction(within).catch((error) => {
      if (error !== undo) throw error;
    });
  }

  /** The statement of this name with these values. */
  #call(name: string, values: unknown[]): string {
    const literals = values.map((value, i) => literal(value, this.#prepared.get(name)?.[i] ?? ''));
    return `execute "${name}"${literals.length > 0 ? `(${literals.join(', ')})` : ''}`;
  }
}

export type Work = (db: Database) => Promise<unknown>;

/** A statement that is not prepared. */
const plain = <Row extends object>(tx: Transaction, text: string): Promise<Row[]> => tx.query<Row>('', text);

async function typesOf(tx: Transaction, name: string): Promise<string[]> {
  const text = `select parameter_types::text[] as types from pg_prepared_statements where name = ${pg.escapeLiteral(name)}`;
  const [row] = await plain<{ types: string[] }>(tx, text);
  return row?.types ?? [];
}

/** Rows that sequential scans of growing tables read so far, by table. */
async function scanned(tx: Transaction): Promise<Record<string, number>> {
  const text = 'select relname, seq_tup_read::int from pg_stat_xact_user_tables';
  const rows = await plain<{ relname: string; seq_tup_read: number }>(tx, text);
  const read: Record<string, number> = {};
  for (const { relname, seq_tup_read } of rows) {
    const table = growingTable(relname);
    if (table) read[table] = (read[table] ?? 0) + seq_tup_read;
  }
  return read;
}

function difference(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  const more = Object.entries(after).map(([table, read]) => [table, read - (before[table] ?? 0)] as const);
  return Object.fromEntries(more.filter(([, read]) => read > 0));
}
