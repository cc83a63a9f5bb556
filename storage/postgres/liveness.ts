import pg from 'pg';
import type { Sql } from './database.js';

/** Resolves when the database answers. */
export async function pingDatabase(sql: Sql): Promise<void> {
  await sql.query('pingDatabase', 'select 1 as alive');
}

const SOCKET_ERRORS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH']);
// Shutting down, starting up, out of connections; class 08 is a broken connection.
const SERVER_ERRORS = /^(?:57P0[123]|53300|08...)$/;
// pg reports these without a code.
const CLIENT_ERRORS =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection)/;

/** True when the database could not be reached; false when it refused a statement. */
export function isUnreachable(error: unknown): boolean {
  // FATAL ends the connection, or refuses it: closed for maintenance, over its limit, a role without the right.
  if (error instanceof pg.DatabaseError) return error.severity === 'FATAL' || SERVER_ERRORS.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  return SOCKET_ERRORS.has((error as NodeJS.ErrnoException).code ?? '') || CLIENT_ERRORS.test(error.message);
}
