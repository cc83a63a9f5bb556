import type { Sql } from '../postgres/database.js';
import { inputContext } from '../secrets/sealing.js';

/** The input of an operation that sent a file. */
export interface SentFile {
  filename: string;
  content_type: string;
  data_base64: string;
}

/**
 * The file that an operation of the workspace's simulated connections has sent; undefined when there is none, or its input is erased. Throws
 * KeyUnknown when the node lacks the key of the input. Index: operation_pkey.
 */
export async function readSentFile(db: Sql, workspaceId: string, operationId: string): Promise<SentFile | undefined> {
  const [row] = await db.query<{ input: SentFile | null; input_sealed: Buffer | null }>(
    'readSentFile',
    `select input, input_sealed from operation
     where id = $1 and workspace_id = $2 and capability = 'social.attachment.send' and status in ('succeeded', 'outcome_unknown')`,
    [operationId, workspaceId],
  );
  if (!row) return undefined;
  return db.vault.openValue({ plain: row.input, sealed: row.input_sealed }, inputContext(operationId)) ?? undefined;
}
