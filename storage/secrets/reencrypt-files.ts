import { LIMITS } from '../limits.js';
import type { Sql } from '../postgres/database.js';
import { type KeyRing, KeyUnknown } from './encryption.js';
import { filePartContext } from './sealing.js';

interface Part {
  operation_id: string;
  attempt_id: string;
  part: number;
  bytes: Buffer;
  sealed: boolean;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/** Puts the parts of files under the first key of the ring, plain ones too. Gives how many were written. */
export async function reencryptFiles(sql: Sql, ring: KeyRing, lacks: (keyId: string) => void): Promise<number> {
  let written = 0;
  let after = { operation_id: NIL, attempt_id: NIL, part: -1 };
  for (;;) {
    const page = await sql.query<Part>(
      'listFileParts',
      `select operation_id, attempt_id, part, bytes, sealed from operation_file
       where (operation_id, attempt_id, part) > ($1::uuid, $2::uuid, $3::integer)
       order by operation_id, attempt_id, part limit $4`,
      [after.operation_id, after.attempt_id, after.part, LIMITS.reencrypt_page_rows],
    );
    for (const one of page) {
      const next = one.sealed && !ring.stale(one.bytes) ? undefined : resealed(ring, one, lacks);
      if (next) written += await replacePart(sql, one, next);
    }
    const last = page.at(-1);
    if (!last || page.length < LIMITS.reencrypt_page_rows) return written;
    after = last;
  }
}

function resealed(ring: KeyRing, one: Part, lacks: (keyId: string) => void): Buffer | undefined {
  const context = filePartContext(one.operation_id, one.attempt_id, one.part);
  try {
    return ring.sealData(one.sealed ? ring.open(one.bytes, context) : one.bytes, context);
  } catch (error) {
    if (!(error instanceof KeyUnknown)) throw error;
    lacks(error.keyId);
    return undefined;
  }
}

/** Only while it still holds what was read: a part may be stored again. */
async function replacePart(sql: Sql, { operation_id, attempt_id, part, bytes }: Part, next: Buffer): Promise<number> {
  const rows = await sql.query(
    'reencryptFilePart',
    `update operation_file set bytes = $5, sealed = true
     where operation_id = $1 and attempt_id = $2 and part = $3 and bytes = $4 returning part`,
    [operation_id, attempt_id, part, bytes, next],
  );
  return rows.length;
}
