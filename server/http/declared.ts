import type { IJsonSchemaCollection } from 'typia';

/** JSON Schemas of `T` as typia writes them, with the components they refer to; the type they were made from stays known. */
export type SchemaOf<T> = IJsonSchemaCollection<'3.1', [T]>;

/** Headers of answers that the reference tells of; what they mean stands in `headers.ts`. */
export type AnswerHeader =
  | 'ETag'
  | 'Idempotency-Key'
  | 'Idempotency-Replayed'
  | 'Location'
  | 'Preference-Applied'
  | 'Retry-After'
  | 'WWW-Authenticate'
  | 'X-Operation-Id';

/** One answer of a route beside the errors that the checks before it give. */
export interface DeclaredAnswer {
  description: string;
  /** Absent: no body, or `contentType` says what it is. */
  schema?: SchemaOf<unknown>;
  /** The body when it is no JSON. */
  contentType?: string;
  headers?: readonly AnswerHeader[];
}

/** By status. */
export type DeclaredAnswers = Readonly<Record<number, DeclaredAnswer>>;

/** Request headers that a route looks at beside those that every route takes. */
export interface DeclaredHeaders {
  'Idempotency-Key'?: 'required' | 'optional';
  /** Preferences it honours. */
  Prefer?: readonly ('dry-run' | 'respond-async' | 'wait')[];
  'If-None-Match'?: 'optional';
}
