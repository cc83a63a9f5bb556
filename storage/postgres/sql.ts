import type { Vault } from '../model/vault.js';

/**
 * Runs statements on PostgreSQL. Each has a name, so that the server plans it once a connection
 * (measured: unnamed statements cost about twice as much an operation).
 */
export interface Sql {
  /** Seals and opens what customers wrote, for the statements that store and read it. */
  readonly vault: Vault;
  /**
   * Runs the named statement and returns its rows. Throws pg's DatabaseError when the server refuses it, `NotSent` when no
   * connection could be had, `AnswerLost` when it may have taken effect (`liveness.ts`).
   */
  query<Row extends object = Record<string, never>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
}

declare const IN_TRANSACTION: unique symbol;

/** Statements that commit together or not at all: what takes one cannot be given a pool, whose statements each commit alone. */
export interface Transaction extends Sql {
  readonly [IN_TRANSACTION]: true;
}
