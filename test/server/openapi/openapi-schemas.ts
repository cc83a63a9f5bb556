import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** The parts of the document that tests look at. */
export interface Document {
  openapi: string;
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  webhooks: Record<string, { post: DocumentedOperation }>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, DocumentedAnswer>;
    parameters: Record<string, DocumentedParameter>;
    headers: Record<string, { description: string; required?: boolean; schema: Schema; example: unknown }>;
    securitySchemes: Record<string, object>;
  };
}

/** A schema, as far as tests look at it. */
export interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  oneOf?: { $ref: string }[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  examples?: unknown[];
  [keyword: string]: unknown;
}

export interface DocumentedOperation {
  operationId: string;
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  'x-required-scopes'?: string[];
  parameters: (Partial<DocumentedParameter> & { $ref?: string })[];
  requestBody?: { description: string; required?: boolean; content: Record<string, DocumentedContent> };
  responses: Record<string, DocumentedAnswer & { $ref?: string }>;
  callbacks?: Record<string, Record<string, { post: DocumentedOperation }>>;
}

export interface DocumentedParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  required?: boolean;
  schema: Schema;
  /** Of one that is required; `examples` of any other. */
  example?: unknown;
  examples?: { usual: { value: unknown } };
}

export interface DocumentedAnswer {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, DocumentedContent>;
}

/** A body, by its media type. */
export interface DocumentedContent {
  schema: Schema;
  examples?: Record<string, { value: unknown }>;
}

/** Checks values against schemas of the document. Keywords that only describe are known, and `marks`; everything else is an error. */
export function schemaChecks(document: object, marks: string[] = []): (pointer: string) => ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addVocabulary([
    'openapi',
    'info',
    'servers',
    'tags',
    'paths',
    'webhooks',
    'components',
    'discriminator',
    'example',
    ...marks,
  ]);
  ajv.addSchema(document, 'document');
  return (pointer) => ajv.compile({ $ref: `document#${pointer}` });
}

/** A JSON pointer's steps, escaped. */
export function pointerTo(...steps: string[]): string {
  return steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
}
