import typia from 'typia';
import type { AnswerHeader, DeclaredHeaders } from '../http/declared.js';
import type { Printable, Uuid } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { Components, type Schema } from './schema.js';

/** Headers of requests and answers, with the types that check them where there is one. */

const plain = new Components();
const OPEN = { closed: false, dropHeads: false };
const KEY = plain.take(typia.json.schemas<[Printable<1, 128>]>(), OPEN);
const ID = plain.take(typia.json.schemas<[Uuid]>(), OPEN);
const TEXT: Schema = { type: 'string' };
const { description: _, ...PRINTABLE } = KEY;

const PREFERENCES: Record<NonNullable<DeclaredHeaders['Prefer']>[number], string> = {
  'dry-run': '`dry-run`: validate everything, store nothing.',
  'respond-async': '`respond-async`: do not wait for the outcome.',
  wait: `\`wait=N\`: answer as soon as the operation is terminal or waits for the user, after N seconds at most (0–${LIMITS.wait_s}).`,
};

/** A header as a parameter object of the document. */
function header(name: string, description: string, schema: Schema, required = false) {
  return { name, in: 'header', description, ...(required && { required }), schema };
}

/** Every route takes it. */
export const REQUEST_ID = header(
  'X-Request-Id',
  "The caller's name for this request; the answer repeats it.",
  PRINTABLE,
);

/** The parameters of the headers that a route declares. */
export function requestHeaders(declared: DeclaredHeaders = {}): object[] {
  const parameters = [];
  const idempotency = declared['Idempotency-Key'];
  if (idempotency) {
    const unique =
      'Unique across the workspace. The same key with the same request is answered with the first one’s operation.';
    const absent = idempotency === 'optional' ? ' Without it every call is a new one.' : '';
    parameters.push(header('Idempotency-Key', unique + absent, PRINTABLE, idempotency === 'required'));
  }
  if (declared.Prefer) {
    parameters.push(header('Prefer', declared.Prefer.map((preference) => PREFERENCES[preference]).join(' '), TEXT));
  }
  if (declared['If-None-Match']) {
    parameters.push(header('If-None-Match', 'The `ETag` of a copy: 304 while it is still current.', TEXT));
  }
  return parameters;
}

/** Headers of answers, for `components.headers`. */
export const ANSWER_HEADERS: Record<
  AnswerHeader | 'X-Request-Id',
  { description: string; required?: true; schema: Schema }
> = {
  ETag: { description: 'Names this version of the content.', schema: TEXT },
  'Idempotency-Key': { description: 'The key under which the operation was submitted.', schema: PRINTABLE },
  'Idempotency-Replayed': {
    description: 'Present when the key had submitted this operation before.',
    schema: { const: 'true' },
  },
  Location: { description: 'Where the resource is read.', schema: TEXT },
  'Preference-Applied': { description: 'The preference that was honoured.', schema: TEXT },
  'Retry-After': {
    description: 'Seconds after which it is worth asking again.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: TEXT },
  'X-Operation-Id': { description: 'The operation that the call submitted.', schema: ID },
  'X-Request-Id': {
    description: 'Names the request; give it when something has to be looked into.',
    required: true,
    schema: PRINTABLE,
  },
};

/** References to them; every answer carries `X-Request-Id`. */
export function answerHeaders(names: readonly AnswerHeader[] = []): object {
  const references = ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return Object.fromEntries(references);
}
