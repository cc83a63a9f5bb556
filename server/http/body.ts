import { isUtf8 } from 'node:buffer';
import { HttpError } from '../../storage/model/errors.js';
import { isPgSafeText } from '../../storage/postgres/pg-safe-values.js';
import { invalidField } from './answer.js';
import type { HttpExchange } from './exchange.js';
import { LIMITS } from './limits.js';

export type JsonObject = Record<string, unknown>;

/**
 * The body of a request that has come whole: 413, or 503 when there is no memory for it, then 415 (HTTP-1, HTTP-4, HTTP-10). An empty
 * one gives undefined. Null when the client went away.
 */
export function readBody(exchange: HttpExchange): Buffer | undefined | null {
  const bytes = exchange.body();
  if (bytes === null) return null;
  if (typeof bytes === 'string') throw new HttpError(bytes);
  if (bytes.length === 0) return undefined;
  const type = exchange.headers['content-type'].split(';', 1)[0]!.trim().toLowerCase();
  const encoding = exchange.headers['content-encoding'].toLowerCase();
  if ((type !== '' && type !== 'application/json') || (encoding !== '' && encoding !== 'identity')) {
    throw new HttpError('unsupported_media_type');
  }
  return bytes;
}

/** The body as a JSON object; throws 400 `invalid_json` (HTTP-5). */
export function parseJson(bytes: Buffer): JsonObject {
  refuseCrowded(bytes);
  if (!isUtf8(bytes)) throw new HttpError('invalid_json', 'the body is not UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new HttpError('invalid_json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpError('invalid_json', 'the body is not a JSON object');
  }
  // PostgreSQL stores neither U+0000 nor half a surrogate pair. In UTF-8 only an escape can bring them.
  if (bytes.includes('\\u')) refuseUnstorable(value, 'body');
  return value as JsonObject;
}

/** A large body is long because of a long text. One of a hundred thousand values takes longer to parse and to refuse than all else. */
function refuseCrowded(bytes: Buffer): void {
  if (bytes.length <= LIMITS.body_bytes) return;
  let commas = 0;
  for (let at = bytes.indexOf(COMMA); at >= 0; at = bytes.indexOf(COMMA, at + 1)) {
    if (++commas > LIMITS.large_body_values) throw invalidField('body', `at most ${LIMITS.large_body_values} values`);
  }
}

const COMMA = ','.charCodeAt(0);

function refuseUnstorable(root: object, rootPath: string): void {
  // A list, not recursion: callers choose how deep values are nested.
  const pending: [value: unknown, path: string][] = [[root, rootPath]];
  for (let item = pending.pop(); item; item = pending.pop()) {
    const [value, path] = item;
    if (typeof value === 'string') {
      if (!isPgSafeText(value)) throw invalidField(path, 'text without U+0000 and half surrogate pairs');
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value)) {
        if (!isPgSafeText(key)) throw invalidField(path, 'keys without U+0000 and half surrogate pairs');
        pending.push([child, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`]);
      }
    }
  }
}

/** For a route whose input is "none": an empty body or `{}` (HTTP-7). */
export function expectNoBody(body: JsonObject | undefined): void {
  const [key] = Object.keys(body ?? {});
  if (key !== undefined) throw invalidField(`body.${key}`, 'no such field');
}
