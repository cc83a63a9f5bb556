import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** The parts of the document that tests look at. */
export interface Document {
  openapi: string;
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: {
    schemas: Record<string, { examples?: unknown[]; oneOf?: { $ref: string }[]; [keyword: string]: unknown }>;
    responses: Record<string, DocumentedAnswer>;
    headers: Record<string, { required?: boolean; schema: object }>;
  };
}

export interface DocumentedOperation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters: { name?: string; in?: string; $ref?: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, DocumentedAnswer & { $ref?: string }>;
  callbacks?: Record<string, Record<string, { post: DocumentedOperation }>>;
}

export interface DocumentedAnswer {
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, { schema: object }>;
}

/** Checks values against schemas of the document. Keywords that only describe are known, everything else is an error. */
export function schemaChecks(document: object): (pointer: string) => ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addVocabulary(['openapi', 'info', 'servers', 'tags', 'paths', 'components', 'discriminator', 'example']);
  ajv.addSchema(document, 'document');
  return (pointer) => ajv.compile({ $ref: `document#${pointer}` });
}

/** A JSON pointer's steps, escaped. */
export function pointerTo(...steps: string[]): string {
  return steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
}
