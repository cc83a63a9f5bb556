import type { Sql } from '../postgres/database.js';

/** What a browser run or a listener needs beyond the connection's row: its sealed session and credentials. */
export interface SessionSecrets {
  password_sealed: Buffer | null;
  session_sealed: Buffer | null;
  session_revision: number | null;
}

/** The sealed secrets of a connection; undefined when it is gone. */
export async function readSecrets(db: Sql, connectionId: string): Promise<SessionSecrets | undefined> {
  const [row] = await db.query<SessionSecrets>(
    'readSecrets',
    'select password_sealed, session_sealed, session_revision from connection where id = $1 and deleted_at is null',
    [connectionId],
  );
  return row;
}
