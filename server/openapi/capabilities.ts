import typia from 'typia';
import { capabilities } from '../../actors/capabilities/catalogue.js';
import type { RecruiterSearchInput, RecruiterSearchResult } from '../../actors/capabilities/recruiter.js';
import type { RecruiterFilters } from '../../actors/capabilities/recruiter-filters.js';
import type { CapabilityName, Signature, Signatures } from '../../actors/capabilities/signatures.js';
import type { SkipReason } from '../../actors/operations/execution.js';
import { ATTACHMENT_BYTES, RECRUITER_LIST_ENTRIES, RECRUITER_TITLES } from '../../browser-pool/contract/fields.js';
import { CAPABILITY_EXAMPLES } from './capability-examples.js';
import { pascal } from './errors.js';
import { type Components, nameOf, refTo, type Schema } from './schema.js';

/** Filters are checked when the search's turn comes, not when it is submitted (OPS-6). */
type RecruiterPeopleSearchInput = Pick<RecruiterSearchInput, 'keywords' | 'start' | 'count'> & RecruiterFilters;

/** What a capability is given and gives, as callers should read it. */
interface DocumentedSignatures extends Omit<Signatures, 'social.recruiter.people.search'> {
  'social.recruiter.people.search': Signature<RecruiterPeopleSearchInput, RecruiterSearchResult>;
}

/** Why nothing was left to do (OPS-7). */
interface SkippedResult {
  reason: SkipReason;
}

const SIGNATURES = typia.json.schemas<[DocumentedSignatures]>();
const SKIPPED = typia.json.schemas<[SkippedResult]>();

/**
 * Turns `OperationInput` into one of the 22 submissions and `Operation` into one of the 22 operations, each told from
 * the others by `capability`. Both must have been taken from their types already.
 */
export function describeCapabilities(components: Components): void {
  const source = (SIGNATURES.components.schemas ?? {}) as Record<string, Schema>;
  const root = source[nameOf((SIGNATURES.schemas as Schema[])[0]?.$ref ?? '')];
  const skipped = components.take(SKIPPED, { closed: false, dropHeads: false });
  const { schemas } = components;
  schemas.OperationCommon = withoutFields(schemas.Operation, ['capability', 'result']);

  const submissions: [CapabilityName, string][] = [];
  const operations: [CapabilityName, string][] = [];
  for (const { name: text, send, needs } of capabilities) {
    const name = text as CapabilityName;
    const signature = source[nameOf(root?.properties?.[name]?.$ref ?? '')];
    if (!signature?.properties) throw new Error(`no signature of ${name}`);
    const { input, result } = signature.properties;
    const { summary, ...examples } = CAPABILITY_EXAMPLES[name];
    const inputSchema = components.read(input ?? {}, source, { closed: true, dropHeads: true });
    const resultSchema = components.read(result ?? {}, source, { closed: false, dropHeads: true });
    exampleOf(schemas, resultSchema, examples.result);

    const description = [summary, send && 'Needs the scope `social:send`.', NEEDS[needs]].filter(Boolean).join(' ');
    const submission = `${pascal(name)}Submission`;
    schemas[submission] = {
      type: 'object',
      title: name,
      description,
      properties: { capability: { type: 'string', const: name }, input: inputSchema },
      required: ['capability', 'input'],
      additionalProperties: false,
      examples: [{ capability: name, input: examples.input }],
    };
    submissions.push([name, submission]);
    const operation = `${pascal(name)}Operation`;
    schemas[operation] = {
      title: name,
      allOf: [
        refTo('OperationCommon'),
        {
          type: 'object',
          properties: {
            capability: { type: 'string', const: name },
            result: {
              description: 'On success; or why nothing was left to do.',
              oneOf: [resultSchema, skipped, { type: 'null' }],
            },
          },
          required: ['capability', 'result'],
        },
      ],
    };
    operations.push([name, operation]);
  }
  schemas.OperationInput = told('A request for work: the capability and its own input.', submissions);
  schemas.Operation = told('An operation; `capability` tells what its result holds.', operations);
  boundBySize(schemas);
}

const NEEDS = {
  nothing: '',
  session: 'The connection must be `ready`.',
  recruiter: 'The connection must be `ready`, and so must its `recruiter.health`.',
} as const;

function told(description: string, variants: [CapabilityName, string][]): Schema {
  return {
    description,
    oneOf: variants.map(([, name]) => refTo(name)),
    discriminator: {
      propertyName: 'capability',
      mapping: Object.fromEntries(variants.map(([capability, name]) => [capability, refTo(name).$ref])),
    },
  };
}

function withoutFields(schema: Schema | undefined, names: string[]): Schema {
  const kept = Object.entries(schema?.properties ?? {}).filter(([name]) => !names.includes(name));
  return {
    ...schema,
    properties: Object.fromEntries(kept),
    required: (schema?.required ?? []).filter((name) => !names.includes(name)),
  };
}

function exampleOf(schemas: Record<string, Schema>, { $ref }: Schema, example: unknown): void {
  const schema = $ref && schemas[nameOf($ref)];
  if (schema && !schema.examples) schema.examples = [example];
}

/** Bounds that the types cannot say, from the constants that are checked against. */
function boundBySize({ RecruiterPeopleSearchInput, AttachmentSendInput }: Record<string, Schema>): void {
  for (const [name, property] of Object.entries(RecruiterPeopleSearchInput?.properties ?? {})) {
    if (property.type === 'array') property.maxItems = name === 'titles' ? RECRUITER_TITLES : RECRUITER_LIST_ENTRIES;
  }
  const data = AttachmentSendInput?.properties?.data_base64;
  if (data) Object.assign(data, { contentEncoding: 'base64', maxLength: Math.ceil(ATTACHMENT_BYTES / 3) * 4 });
}
