/**
 * A deleted connection is hidden at once, with everything that belongs to it, and its rows go afterwards (CONN-7). Holds while the
 * connection of this id (an expression) is not one of those; the index connection_deleted has them, and is all but empty.
 */
export function ofKeptConnection(connectionId: string): string {
  return `not exists (select from connection gone where gone.id = ${connectionId} and gone.deleted_at is not null)`;
}
