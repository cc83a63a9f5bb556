import typia from 'typia';
import { HTTP_ERRORS, type HttpErrorCode } from '../../storage/model/error-codes.js';
import type { FieldError } from '../../storage/model/errors.js';
import { GATES, UNREAD_GATES } from '../http/admission/gates.js';
import type { ConflictJson, EnvelopeJson, ErrorJson } from '../http/answer.js';
import type { AnswerHeader } from '../http/declared.js';
import type { Route } from '../http/route.js';
import { IDEMPOTENCY_KEY } from './examples/values.js';
import { answerHeaders } from './headers.js';
import { type Components, componentOf, type Schema } from './schema.js';

/*
 * The errors of a route, from what is checked before it (HTTP-1), what its handler refuses with, and the status
 * that each code has (`storage/model/errors.ts`). Answers that several routes share are written once, in `components.responses`.
 */

const ERROR = typia.json.schemas<[ErrorJson]>();
const CONFLICT = typia.json.schemas<[ConflictJson]>();
const ENVELOPE = typia.json.schemas<[EnvelopeJson]>();

/** Codes that the gates in front of this route's handler refuse with, and its own. */
function codesOf(route: Route): HttpErrorCode[] {
  const to = { path: route.path, route };
  const gates = [...UNREAD_GATES, ...GATES].filter((gate) => gate.when(to));
  return [
    ...new Set([...gates.flatMap(({ refuses }) => refuses), 'internal_error' as const, ...(route.refusals ?? [])]),
  ];
}

/** The headers that the answers with a code carry. */
function headersOf(code: HttpErrorCode): AnswerHeader[] {
  const record = HTTP_ERRORS[code];
  return 'headers' in record ? (Object.keys(record.headers) as (keyof typeof record.headers)[]) : [];
}

/** Answers by status. `responses` collects those that can be shared. */
export function errorResponses(
  route: Route,
  components: Components,
  responses: Record<string, object>,
): Record<string, object> {
  const envelope = route.errors === 'envelope';
  // What the route declares for a status covers the codes of that status too.
  const undeclared = codesOf(route).filter((code) => !(HTTP_ERRORS[code].status in route.answers));
  const byStatus = Object.groupBy(undeclared, (code) => HTTP_ERRORS[code].status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes = []]) => {
      const sorted = [...codes].sort();
      const name = `${sorted.map(pascal).join('Or')}${envelope ? 'Envelope' : ''}`;
      responses[name] ??= {
        description: sorted.map((code) => `\`${code}\`: ${HTTP_ERRORS[code].meaning}`).join(' '),
        headers: answerHeaders([...new Set(sorted.flatMap(headersOf))]),
        content: {
          'application/json': {
            schema: bodyOf(Number(status), sorted, envelope, components),
            examples: Object.fromEntries(sorted.map((code) => [code, { value: exampleOf(code, envelope) }])),
          },
        },
      };
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

/** The type of the answer, with the codes of this status alone. */
function bodyOf(status: number, codes: HttpErrorCode[], envelope: boolean, components: Components): Schema {
  if (envelope) return components.take(ENVELOPE, { closed: false });
  const conflict = status === 409;
  const whole = components.take(conflict ? CONFLICT : ERROR, { closed: conflict });
  const { description = '' } = componentOf(components.schemas, whole)?.properties?.code ?? {};
  return { allOf: [whole, { type: 'object', properties: { code: { type: 'string', enum: codes, description } } }] };
}

/** A place that is wrong, for the code that names places. */
const WRONG: FieldError = { path: 'body.surprise', expected: 'no such field' };

function exampleOf(code: HttpErrorCode, envelope: boolean): ErrorJson | ConflictJson | EnvelopeJson {
  const { status, message } = HTTP_ERRORS[code];
  const errors = code === 'validation_error' ? { errors: [WRONG] } : {};
  if (envelope) {
    // Once the key was known it is in the details.
    const details = { ...errors, ...(status >= 500 && { idempotency_key: IDEMPOTENCY_KEY }) };
    return { error: { code, message, details } };
  }
  return status === 409 ? { code } : { code, message, ...errors };
}

/** `connection_busy` as `ConnectionBusy`. */
export function pascal(name: string): string {
  return name.replace(/(?:^|[._-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
