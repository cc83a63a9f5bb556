import type { Sql } from '../postgres/database.js';
import { LOGIN_OF_LINK } from './reconnect-links.js';

/** What a browser run or a listener needs beyond the connection's row: its sealed session and credentials. */
export interface SessionSecrets {
  password_sealed: Buffer | null;
  /** True when it was given at a reconnect link and is not the connection's before this login has proved it (CONN-15). */
  password_given: boolean;
  session_sealed: Buffer | null;
  session_revision: number | null;
}

/** The sealed secrets of a connection, for this login of it or for what needs no password; undefined when it is gone. */
export async function readSecrets(
  db: Sql,
  connectionId: string,
  login: string | null,
): Promise<SessionSecrets | undefined> {
  const [row] = await db.query<SessionSecrets>(
    'readSecrets',
    `select coalesce(l.password_sealed, c.password_sealed) as password_sealed, l.password_sealed is not null as password_given,
       c.session_sealed, c.session_revision
     from connection c left join reconnect_link l on l.connection_id = c.id and exists (
       select from operation o where o.id = $2 and ${LOGIN_OF_LINK})
     where c.id = $1 and c.deleted_at is null`,
    [connectionId, login],
  );
  return row;
}
