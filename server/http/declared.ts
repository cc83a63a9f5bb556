import type { IJsonSchemaCollection } from 'typia';

/** JSON Schemas of `T` as typia writes them, with the components they refer to; the type they were made from stays known. */
export type SchemaOf<T> = IJsonSchemaCollection<'3.1', [T]>;

/** Headers of answers that the reference lists; `server/openapi/headers.ts` describes them. */
export type AnswerHeader =
  | 'ETag'
  | 'Idempotency-Key'
  | 'Idempotency-Replayed'
  | 'Location'
  | 'Preference-Applied'
  | 'Retry-After'
  | 'Set-Cookie'
  | 'WWW-Authenticate'
  | 'X-CS-Connection-Reference'
  | 'X-Operation-Id';

/** One answer of a route beside the errors of the checks before it. */
export interface DeclaredAnswer {
  description: string;
  /** Of several, one of them. Absent: no body, or one of `contentType`. */
  schema?: SchemaOf<unknown> | readonly SchemaOf<unknown>[];
  /** Of a body that is not JSON. */
  contentType?: string;
  headers?: readonly AnswerHeader[];
}

/** By status. */
export type DeclaredAnswers = Readonly<Record<number, DeclaredAnswer>>;

/** Request headers that a route reads beside those that every route takes. */
export interface DeclaredHeaders {
  'Idempotency-Key'?: 'required' | 'optional';
  /** Preferences it honours. */
  Prefer?: readonly ('dry-run' | 'respond-async' | 'wait')[];
  'If-None-Match'?: 'optional';
}
