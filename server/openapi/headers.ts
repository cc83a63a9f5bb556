import typia from 'typia';
import type { AnswerHeader, DeclaredHeaders } from '../http/declared.js';
import type { Printable, Uuid } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { IDEMPOTENCY_KEY, OPERATION, REFERENCE, REQUEST } from './examples/values.js';
import { parameterExample } from './parameter-example.js';
import { Components, type Schema } from './schema.js';

/** Headers of requests and answers, with the types that check them where there is one. */

const plain = new Components();
const OPEN = { closed: false };
const KEY = plain.take(typia.json.schemas<[Printable<1, 128>]>(), OPEN);
const ID = plain.take(typia.json.schemas<[Uuid]>(), OPEN);
const TEXT: Schema = { type: 'string' };
const TAG = '"a-version"';
const { description: _, ...PRINTABLE } = KEY;

/** What each preference asks for, and one as it is sent. */
const PREFERENCES: Record<NonNullable<DeclaredHeaders['Prefer']>[number], { meaning: string; example: string }> = {
  'dry-run': { meaning: '`dry-run`: validate everything, store nothing.', example: 'dry-run' },
  'respond-async': { meaning: '`respond-async`: do not wait for the outcome.', example: 'respond-async' },
  wait: {
    meaning: `\`wait=N\`: answer as soon as the operation has ended or waits for its user, after N seconds at most (0–${LIMITS.wait_s}).`,
    example: `wait=${LIMITS.wait_s}`,
  },
};

/** A header as a parameter object of the document. */
function header(name: string, description: string, schema: Schema, example: string, required = false) {
  return {
    name,
    in: 'header',
    description,
    ...(required && { required }),
    schema,
    ...parameterExample(example, required),
  };
}

/** Every route takes it. */
export const REQUEST_ID = header(
  'X-Request-Id',
  "The caller's name for this request, 1–128 printable characters of ASCII: the answer repeats it. It has a new one in place of any other.",
  TEXT,
  REQUEST,
);

/**
 * What stands at the ends of a value is cut off before it can be seen: by HTTP's rule blanks, and by the library every byte above
 * U+007F as well. So only keys of ASCII are told apart.
 */
const KEY_CHARACTERS =
  'A key is ASCII, U+0020–U+007E: blanks at its ends are no part of it. One with other characters is 400 `validation_error` where they stand inside, and undefined where they stand at its ends: they may be cut off, so that two keys are taken for one.';

/** The parameters of the headers that a route declares. */
export function requestHeaders(declared: DeclaredHeaders = {}): object[] {
  const parameters = [];
  const idempotency = declared['Idempotency-Key'];
  if (idempotency) {
    const unique =
      'Unique across the workspace. The same key with the same request is answered with the first one’s operation.';
    const absent = idempotency === 'optional' ? ' Without it every call is a new one.' : '';
    const description = `${unique}${absent} ${KEY_CHARACTERS}`;
    parameters.push(header('Idempotency-Key', description, PRINTABLE, IDEMPOTENCY_KEY, idempotency === 'required'));
  }
  if (declared.Prefer) {
    const preferences = declared.Prefer.map((preference) => PREFERENCES[preference]);
    const [first] = preferences;
    const meanings = preferences.map(({ meaning }) => meaning).join(' ');
    parameters.push(header('Prefer', meanings, TEXT, first?.example ?? ''));
  }
  if (declared['If-None-Match']) {
    parameters.push(header('If-None-Match', 'The `ETag` of a copy: 304 while it is still current.', TEXT, TAG));
  }
  return parameters;
}

/** Headers of answers, for `components.headers`. */
export const ANSWER_HEADERS: Record<
  AnswerHeader | 'X-Request-Id',
  { description: string; required?: true; schema: Schema; example: string }
> = {
  ETag: { description: 'Names this version of the content.', schema: TEXT, example: TAG },
  'Idempotency-Key': {
    description: 'The key under which the operation was submitted.',
    schema: PRINTABLE,
    example: IDEMPOTENCY_KEY,
  },
  'Idempotency-Replayed': {
    description: 'Present when the key had submitted this operation before.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  Location: {
    description: 'Where the resource is read.',
    schema: { type: 'string', format: 'uri-reference' },
    example: `/v1/operations/${OPERATION}`,
  },
  'Preference-Applied': { description: 'The preference that was honoured.', schema: TEXT, example: 'wait=30' },
  'Retry-After': {
    description: 'Seconds after which it is worth asking again.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1',
  },
  'Set-Cookie': {
    description: 'The session of the console; out of reach for scripts, and sent by the console alone.',
    schema: TEXT,
    example: 'cs_console=a-token; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200',
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: TEXT, example: 'Bearer' },
  'X-CS-Connection-Reference': {
    description: 'Your own id of the connection; absent without one.',
    schema: PRINTABLE,
    example: REFERENCE,
  },
  'X-Operation-Id': { description: 'The operation that the call submitted.', schema: ID, example: OPERATION },
  'X-Request-Id': {
    description: 'Names the request; give it when something has to be looked into.',
    required: true,
    schema: PRINTABLE,
    example: REQUEST,
  },
};

/** References to them; every answer carries `X-Request-Id`. */
export function answerHeaders(names: readonly AnswerHeader[] = []): object {
  const references = ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  return Object.fromEntries(references);
}
