import type { Test } from 'tap';
import { request } from 'undici';
import { buildDocument } from '../../server/openapi/document.js';
import { routes } from '../../server/table.js';
import { OPERATOR, type Scope } from '../../storage/model/records.js';
import type { Database } from '../../storage/postgres/database.js';
import { createKey } from '../../storage/workspaces/keys.js';
import { createOperator } from '../../storage/workspaces/operators.js';
import { inSharedService, ownService, type SharedService } from '../fixture/shared-service.js';
import { DocumentedExchanges, readReference } from '../server/openapi/documented-exchanges.js';
import type { Document } from '../server/openapi/openapi-schemas.js';

/**
 * The contract's tables as data. A row names the row of the table that it holds, what is sent, and what comes
 * back; rows run in order on one running service and may name what an earlier row created as `{name}`.
 */
export interface Row {
  /** The row of the contract, or the decision, that is held here. */
  title: string;
  /** `POST /v1/connections/{ada}/operations` */
  send: string;
  /** Sent as JSON, unless it is text or bytes already. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Scopes of the key; all of a workspace's when left out, `operator` for the key of one, `none` for no key. */
  scopes?: KeyScopes | 'none';
  status: number;
  /** The body has exactly these fields. */
  fields?: readonly string[];
  /** The body is exactly this. */
  answer?: unknown;
  /** The body has at least this. */
  like?: Record<string, unknown>;
  /** Header by header: exact text, a pattern, or absent. */
  carries?: Record<string, string | RegExp | undefined>;
  /** Keeps `body[field]` as `{name}` for later rows. */
  keep?: Record<string, string>;
}

/** Of a workspace's key, or `operator` for an operator's. */
type KeyScopes = readonly Scope[] | typeof OPERATOR;

export interface TableFixture {
  service: SharedService;
  db: Database;
  names: Record<string, string>;
  key(scopes: KeyScopes): Promise<string>;
  call(row: Pick<Row, 'send' | 'body' | 'headers' | 'scopes'>): Promise<TableAnswer>;
}

export interface TableAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  body: Record<string, unknown>;
}

const reference = readReference(JSON.parse(JSON.stringify(buildDocument(routes, false))) as Document);

/**
 * A workspace of the test's own in the shared service, or in one of its own with other settings, and what is needed to hold rows against it. Every
 * exchange is held against the reference as well: what is not as it is documented fails the test.
 */
export async function tableFixture(t: Test, env?: Record<string, string>): Promise<TableFixture> {
  const service = await (env ? ownService(t, env) : inSharedService(t));
  const exchanges = new DocumentedExchanges(reference);
  t.teardown(() => {
    t.comment(`${exchanges.checked} exchanges held against the reference, ${exchanges.seen.size} of them different`);
    if (exchanges.faults.length > 0) throw new Error(`not as documented:\n${exchanges.faults.join('\n')}`);
  });
  const names: Record<string, string> = { nobody: '01900000-0000-7000-8000-000000000000' };
  const keys = new Map<string, Promise<string>>();
  const key = (scopes: KeyScopes) => {
    const wanted = scopes === OPERATOR ? scopes : [...scopes].sort().join();
    const made = keys.get(wanted) ?? newKey(service, scopes);
    keys.set(wanted, made);
    return made;
  };
  const call: TableFixture['call'] = async ({ send, body, headers = {}, scopes }) => {
    const [method, path] = filled(names, send).split(' ') as [string, string];
    const bearer = scopes === 'none' ? undefined : scopes ? await key(scopes) : service.key;
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const payload = body === undefined ? undefined : raw ? body : filled(names, JSON.stringify(body));
    const sent = {
      ...(bearer && { authorization: `Bearer ${bearer}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), filled(names, value)])),
    };
    const answer = await request(service.url + path, {
      method: method as 'GET',
      headers: sent,
      ...(payload !== undefined && { body: payload }),
    });
    const text = await answer.body.text();
    exchanges.hold({
      ...{ method, path, status: answer.statusCode, headers: answer.headers, text },
      sent: { headers: sent, text: payload === undefined ? '' : Buffer.from(payload).toString() },
    });
    return { status: answer.statusCode, headers: answer.headers, text, body: text === '' ? {} : JSON.parse(text) };
  };
  return { service, db: service.db, names, key, call };
}

async function newKey({ db, workspaceId }: SharedService, scopes: KeyScopes): Promise<string> {
  if (scopes === OPERATOR) return (await createOperator(db, 'Grace', null)).key;
  const created = await createKey(db, { workspaceId, name: 'some scopes', scopes: [...scopes], expiresAt: null });
  if (!created) throw new Error('no key');
  return created.key;
}

function filled(names: Record<string, string>, text: string): string {
  return text.replace(/\{([a-z_]+)\}/g, (whole, name: string) => names[name] ?? whole);
}

/** Holds each row against the service, in order. */
export async function hold(t: Test, on: TableFixture, rows: readonly Row[]): Promise<void> {
  for (const row of rows) {
    const answer = await on.call(row);
    const what = `${row.title}: ${row.send}`;
    const instead = answer.status === row.status ? '' : `, not ${answer.text.slice(0, 300)}`;
    t.equal(answer.status, row.status, `${what} is ${row.status}${instead}`);
    if (row.fields) t.strictSame(Object.keys(answer.body).sort(), [...row.fields].sort(), `${what} has these fields`);
    if (row.answer !== undefined) {
      const wanted = row.answer === null ? '' : filled(on.names, JSON.stringify(row.answer));
      t.strictSame(answer.text === '' ? '' : answer.body, wanted === '' ? '' : JSON.parse(wanted), `${what} is exact`);
    }
    if (row.like) t.match(answer.body, JSON.parse(filled(on.names, JSON.stringify(row.like))), what);
    for (const [name, value] of Object.entries(row.carries ?? {})) {
      if (value === undefined) t.equal(answer.headers[name], undefined, `${what} has no ${name}`);
      else if (typeof value === 'string') t.equal(answer.headers[name], filled(on.names, value), `${what} has ${name}`);
      else t.match(answer.headers[name], value, `${what} has ${name}`);
    }
    for (const [name, field] of Object.entries(row.keep ?? {})) on.names[name] = String(answer.body[field]);
  }
}

/** The body of a submission. */
export const work = (capability: string, input: unknown = {}) => ({ capability, input });

/** The body that connects a simulated person. */
export const person = (id: string) => ({ provider: 'simulated', external_actor: { kind: 'person', id } });

/** The body of an error without details. */
export const codeOnly = (code: string) => ({ code });
