import { LIMITS } from '../limits.js';
import { messageKeys } from '../model/message-keys.js';
import type { RecordedEventType } from '../model/records.js';
import type { Sql } from '../postgres/database.js';
import { DataVault } from './data-vault.js';
import type { KeyRing } from './encryption.js';
import { callbackUrlContext, eventDataContext, inputContext, lookContext, resultContext } from './sealing.js';

/*
 * What was stored plain by nodes that had no key. None of it ever changes once
 * it is stored, but for looks, and what replaces one is sealed: so a row that is still plain holds what was read.
 */
const COLUMNS = [
  { table: 'operation', plain: 'input', context: inputContext },
  { table: 'operation', plain: 'result', context: resultContext },
  { table: 'operation', plain: 'evidence_look', context: lookContext },
  { table: 'subscription', plain: 'callback_url', context: callbackUrlContext },
];

/** Seals it page by page, under the first key of the ring. Gives how many values, by the column that holds them now. */
export async function sealPlainData(sql: Sql, ring: KeyRing, secret: Buffer | null): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { table, plain, context } of COLUMNS) {
    counts[`${table}.${plain}_sealed`] = await eachPage<{ id: string; text: string }>(
      (after) =>
        sql.query(
          `listPlain.${table}.${plain}`,
          `select id, ${plain}::text as text from ${table} where id > $1 and ${plain} is not null order by id limit $2`,
          [after, LIMITS.reencrypt_page_rows],
        ),
      (page) =>
        sql.query(
          `sealPlain.${table}.${plain}`,
          `update ${table} t set ${plain}_sealed = c.sealed, ${plain} = null
           from unnest($1::uuid[], $2::bytea[], $3::text[]) c(id, sealed, text) where t.id = c.id and t.${plain}::text = c.text returning t.id`,
          [
            page.map(({ id }) => id),
            page.map(({ id, text }) => ring.sealData(text, context(id))),
            page.map(({ text }) => text),
          ],
        ),
    );
  }
  counts['event.data_sealed'] = await sealEvents(sql, ring, secret);
  return counts;
}

interface PlainEvent {
  id: string;
  connection_id: string;
  type: RecordedEventType;
  data: Record<string, unknown>;
  text: string;
}

/** With what their messages are found by from then on. */
async function sealEvents(sql: Sql, ring: KeyRing, secret: Buffer | null): Promise<number> {
  const vault = new DataVault(ring);
  vault.hashUnder(secret);
  return eachPage<PlainEvent>(
    (after) =>
      sql.query(
        'listPlain.event.data',
        `select id, connection_id, type, data, data::text as text from event
         where id > $1 and data is not null order by id limit $2`,
        [after, LIMITS.reencrypt_page_rows],
      ),
    (page) => {
      const keys = page.map((event) => messageKeys(vault, { ...event, connectionId: event.connection_id }));
      return sql.query(
        'sealPlain.event.data',
        `update event e set data_sealed = c.sealed, data = null, conversation_hash = c.hash, delivered_ms = c.ms
         from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::bigint[]) c(id, sealed, hash, ms)
         where e.id = c.id and e.data is not null returning e.id`,
        [
          page.map(({ id }) => id),
          page.map(({ id, text }) => ring.sealData(text, eventDataContext(id))),
          keys.map((key) => key?.conversation_hash ?? null),
          keys.map((key) => key?.delivered_ms ?? null),
        ],
      );
    },
  );
}

/** Gives how many rows were written. */
async function eachPage<Row extends { id: string }>(
  read: (after: string) => Promise<Row[]>,
  write: (page: Row[]) => Promise<object[]>,
): Promise<number> {
  let written = 0;
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const page = await read(after);
    if (page.length > 0) written += (await write(page)).length;
    const last = page.at(-1);
    if (!last || page.length < LIMITS.reencrypt_page_rows) return written;
    after = last.id;
  }
}
