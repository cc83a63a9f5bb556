import pg from 'pg';
import type { Database, Sql, Transaction } from '../../../storage/postgres/database.js';
import { AnswerLost, NotSent } from '../../../storage/postgres/liveness.js';
import { type Fault, type Faults, REFUSALS } from './faults.js';
import type { Gates } from './gates.js';
import type { Stage } from './stage.js';

/** Settings that stand before a transaction's first statement: nothing is seen by them. */
const SETTINGS = new Set(['limitLockWaits', 'boundLockWaits', 'seeOneMoment']);

export interface SteppedOptions {
  /** The node's own pool. */
  own: Database;
  stage: Stage;
  faults: Faults;
  gates: Gates;
  /** The node in the words of a step. */
  node: string;
  /** False when the node has died: it sends nothing more, and hears nothing. */
  alive(): boolean;
}

/** What a statement or transaction was released as. */
interface Met {
  name: string;
  fault: Fault | undefined;
}

/** The database as a node of a schedule sees it: each statement, and each transaction, is a step and meets its fault. */
export function steppedDatabase({ own, stage, faults, gates, node, alive }: SteppedOptions): Database {
  const ifAlive = () => {
    if (!alive()) throw new NotSent(new Error('the node has died'));
  };

  /** Waits for the step of a statement. Throws what is refused. */
  async function release(name: string, step: (words: string, others: number) => Promise<void>): Promise<Met> {
    ifAlive();
    const fault = faults.of(name);
    await step(`${node}: ${name}${fault ? ` (${fault.kind})` : ''}`, faults.stepsBefore(name));
    ifAlive();
    if (fault?.kind === 'not_sent') throw new NotSent(new Error('no connection'));
    const code = fault && REFUSALS[fault.kind];
    if (code) throw refusal(code);
    return { name, fault };
  }

  /** Throws when the statement ends more than it can. */
  function weigh(name: string, values: unknown[] = []): void {
    if (!faults.tooHeavy(name, values)) return;
    stage.note(`${node}: ${name} ends too many`);
    throw new TooHeavy();
  }

  /** The statements of this transaction stand still between what they see and their rows. */
  async function hold(tx: Sql, { name, fault }: Met): Promise<void> {
    if (fault?.kind !== 'held') return;
    const open = await gates.close(tx);
    void stage.step(`${node}: ${name} goes on`, fault.steps).then(open);
  }

  /** Does the work in a transaction that meets the fault which `met` tells once the work is done. */
  async function transact<T>(met: () => Met, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const worked = Promise.withResolvers<void>();
    const committed = stage.sent(
      own.transaction(async (tx) => {
        const result = await work(tx);
        worked.resolve();
        const { name, fault } = met();
        if (fault?.kind === 'late' || fault?.kind === 'lost_late') {
          await stage.holdUp(`${node}: ${name} commits`, fault.steps);
        }
        if (fault?.kind === 'unheard') throw new Error('the connection ends');
        return result;
      }),
    );
    await Promise.race([worked.promise, committed.catch(() => {})]);
    const { name, fault } = met();
    if (fault?.kind === 'lost_late') {
      committed.catch(() => {});
      throw noAnswer();
    }
    if (fault?.kind === 'unheard') {
      await committed.catch(() => {});
      throw noAnswer();
    }
    const result = await committed;
    if (fault?.kind === 'slow') await stage.step(`${node}: the answer of ${name} comes`, fault.steps);
    if (fault?.kind === 'lost') throw noAnswer();
    ifAlive();
    return result;
  }

  return {
    ...own,
    async query<Row extends object>(name: string, text: string, values?: unknown[]): Promise<Row[]> {
      const met = await release(name, (...step) => stage.step(...step));
      weigh(name, values);
      if (met.fault === undefined) {
        const rows = await stage.sent(own.query<Row>(name, text, values));
        ifAlive();
        return rows;
      }
      return transact(
        () => met,
        async (tx) => {
          await hold(tx, met);
          return tx.query<Row>(name, text, values);
        },
      );
    },
    async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
      ifAlive();
      let met: Met | undefined;
      return transact(
        () => met ?? { name: 'nothing', fault: undefined },
        (tx) => {
          const query: Sql['query'] = async (name, text, values) => {
            if (!met && !SETTINGS.has(name)) {
              met = await release(name, (...step) => stage.holdUp(...step));
              await hold(tx, met);
            }
            weigh(name, values);
            return tx.query(name, text, values);
          };
          return work({ vault: tx.vault, query } as Transaction);
        },
      );
    },
  };
}

const noAnswer = () => new AnswerLost(new Error('no answer'));

/** The refusal of a statement that ends more than it can in its time: what stands in it alone would be stored. */
export class TooHeavy extends pg.DatabaseError {
  override readonly code = '57014';

  constructor() {
    super('canceling statement due to statement timeout', 0, 'error');
  }
}

function refusal(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError(`refused: ${code}`, 0, 'error');
  error.code = code;
  return error;
}
