import pg from 'pg';
import type { Sql } from './sql.js';

/** No connection could be had, or it was lost before the statement was sent: the statement has no effect. */
export class NotSent extends Error {
  override readonly name = 'NotSent';

  constructor(cause: unknown) {
    super(`no connection to the database: ${messageOf(cause)}`, { cause });
  }
}

/** A transaction lost its connection before its commit was sent: the server rolls it back. */
export class NotCommitted extends Error {
  override readonly name = 'NotCommitted';

  constructor(cause: unknown) {
    super(`the connection was lost inside a transaction: ${messageOf(cause)}`, { cause });
  }
}

/** The statement was sent and its answer will never come: it may have been committed. */
export class AnswerLost extends Error {
  override readonly name = 'AnswerLost';

  constructor(cause: unknown) {
    super(`the database's answer was lost: ${messageOf(cause)}`, { cause });
  }
}

/** True for what a statement throws when the database did not answer it; also for one that is told of a lost idle connection. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof NotSent || error instanceof NotCommitted || error instanceof AnswerLost;
}

function messageOf(cause: unknown): string {
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause;
  return inner instanceof Error ? inner.message : String(inner);
}

/** Resolves when the database answers. */
export async function pingDatabase(sql: Sql): Promise<void> {
  await sql.query('pingDatabase', 'select 1 as alive');
}

// Of several addresses that were tried, and of a name that was looked for, the error does not say that a connection was being made.
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
const CONNECTION_LOST = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);
// Shutting down, crashed, starting up, dropped, idle for too long, out of connections; class 08 is a broken connection. By code, as a server
// may say FATAL in its own language.
const SERVER_ERRORS = /^(?:57P0[1-5]|25P0[34]|53300|08...)$/;
// Of these, what the server answers to somebody who is not connected yet: starting up, out of connections, 08001 and 08004.
const REFUSED_CONNECTION = /^(?:57P03|53300|0800[14])$/;
// pg reports these without a code.
const NOT_SENT_MESSAGES =
  /^(?:timeout exceeded when trying to connect|Connection terminated due to connection timeout|Client has encountered a connection|Client was closed)/;
const LOST_MESSAGES = /^(?:Connection terminated|Query read timeout)/;

/** True when the database could not be reached or its answer was lost; false when it refused a statement. */
export function isUnreachable(error: unknown): boolean {
  return isUnanswered(error) || endsConnection(error);
}

/**
 * True when the statement, or the commit of the transaction, may have taken effect although it failed: its answer was lost.
 * False when it surely has none: the database refused it, or it was never sent.
 */
export function outcomeUnknown(error: unknown): boolean {
  if (error instanceof AnswerLost) return true;
  if (error instanceof NotSent || error instanceof NotCommitted) return false;
  return endsConnection(error) && !neverSent(error);
}

/** True for pg's own errors after which a connection answers nothing any more, or that came instead of a connection. */
export function endsConnection(error: unknown): boolean {
  // FATAL ends the connection, or refuses it: closed for maintenance, over its limit, a role without the right.
  if (error instanceof pg.DatabaseError) {
    return /^(?:FATAL|PANIC)$/.test(error.severity ?? '') || SERVER_ERRORS.test(error.code ?? '');
  }
  if (!(error instanceof Error)) return false;
  return (
    neverConnected(error) ||
    CONNECTION_LOST.has(codeOf(error)) ||
    NOT_SENT_MESSAGES.test(error.message) ||
    LOST_MESSAGES.test(error.message)
  );
}

const codeOf = (error: NodeJS.ErrnoException) => error.code ?? '';

/** By whatever way the database is reached: a socket that is not there is `ENOENT`, one with too many who wait `EAGAIN`. */
const neverConnected = (error: NodeJS.ErrnoException) =>
  error.syscall === 'connect' || NEVER_CONNECTED.has(codeOf(error));

/** Of errors that end a connection: true when nothing was sent on it. */
export function neverSent(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return REFUSED_CONNECTION.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  return neverConnected(error) || NOT_SENT_MESSAGES.test(error.message);
}

/** True when a lock was not given in time: the statement has no effect, and the same one can succeed later. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

// Serialisation failure and deadlock, lock and statement time limits, full disk and memory, failed reading and writing,
// a server that has become a standby.
const REFUSED_FOR_NOW = /^(?:40001|40P01|55P03|57014|53[^3]..|58030|25006)$/;

/** True when the database refused the statement for its own state, not for its values: it has no effect, and can succeed later. */
export function isRefusedForNow(error: unknown): boolean {
  return error instanceof pg.DatabaseError && REFUSED_FOR_NOW.test(error.code ?? '');
}

/** True when a statement was ended at the server's time limit: it has no effect, and with less to do it can succeed. */
export function hitTimeLimit(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57014';
}

/** True when the database answered that it refuses the statement, which surely has no effect then. */
export function isRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isUnreachable(error);
}

// Full disk, failed reading and writing, a server that has become a standby, and what it has too little of without saying what.
const OF_THE_SERVER = /^(?:53[01]00|58030|25006)$/;

/**
 * True when one item of a batch may have caused the failure of its statement: without it the others could succeed. The statement then has no
 * effect. False for a database that is away, or whose answer was lost.
 */
export function causedByOne(error: unknown): boolean {
  return !isUnreachable(error) && !(error instanceof pg.DatabaseError && OF_THE_SERVER.test(error.code ?? ''));
}
