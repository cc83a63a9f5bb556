import { findsRow } from './finds-row.js';
import { runsAtFormer } from './former-jobs.js';
import { isMailboxOf, MAILBOX, markOf } from './mailbox-jobs.js';

/** True while an operation of this connection runs or waits for its user: it stands from the mark of its mailbox on. */
export const isRunning = (partition: string, connection: string): string =>
  `(${findsRow(`
  from ${MAILBOX} j join operation r on r.connection_id = j.id and r.id >= ${markOf('j.data')}
  where ${isMailboxOf(partition, connection)} and r.status in ('running', 'waiting_user')`)} or ${runsAtFormer(connection)})`;
