import typia from 'typia';
import type { Capability } from '../../actors/capabilities/capability.js';
import { capabilities } from '../../actors/capabilities/catalogue.js';
import type { SkipReason } from '../../browser-pool/contract/signature.js';
import { pascal } from './errors.js';
import { type Components, nameOf, refTo, type Schema } from './schema.js';

/** Why nothing was left to do (OPS-7). */
interface SkippedResult {
  reason: SkipReason;
}

const SKIPPED = typia.json.schemas<[SkippedResult]>();

/**
 * Turns `OperationInput` into one submission a capability and `Operation` into one operation a capability, distinguished
 * by `capability`. Both must have been taken from their types already.
 */
export function describeCapabilities(components: Components): void {
  const skipped = components.take(SKIPPED, { closed: false, dropHeads: false });
  const { schemas } = components;
  schemas.OperationCommon = withoutFields(schemas.Operation, ['capability', 'result']);
  const submissions = new Map<string, string>();
  const operations = new Map<string, string>();
  for (const capability of capabilities) {
    const [input, result] = signatureOf(capability, components);
    const submission = `${pascal(capability.name)}Submission`;
    schemas[submission] = submissionOf(capability, input);
    submissions.set(capability.name, submission);
    const operation = `${pascal(capability.name)}Operation`;
    schemas[operation] = operationOf(capability, result, skipped);
    operations.set(capability.name, operation);
  }
  schemas.OperationInput = oneOf('A request for work: the capability and its own input.', submissions);
  schemas.Operation = oneOf('An operation; `capability` tells what its result holds.', operations);
}

/** Schemas of a capability's input and result, collected with what they refer to. */
function signatureOf({ name, schemas, bounds, example }: Capability, components: Components): [Schema, Schema] {
  const source = (schemas.components.schemas ?? {}) as Record<string, Schema>;
  const [input, result] = schemas.schemas as Schema[];
  if (!input || !result) throw new Error(`no schemas of ${name}`);
  const read = [
    components.read(input, source, { closed: true, dropHeads: true }),
    components.read(result, source, { closed: false, dropHeads: true }),
  ] as [Schema, Schema];
  const properties = componentOf(components.schemas, read[0])?.properties ?? {};
  for (const [field, keywords] of Object.entries(bounds)) Object.assign(properties[field] ?? {}, keywords);
  const answered = componentOf(components.schemas, read[1]);
  if (answered && !answered.examples) answered.examples = [example.result];
  return read;
}

function submissionOf({ name, summary, send, needs, example }: Capability, input: Schema): Schema {
  return {
    type: 'object',
    title: name,
    description: [summary, send && 'Needs the scope `social:send`.', NEEDS[needs]].filter(Boolean).join(' '),
    properties: { capability: { type: 'string', const: name }, input },
    required: ['capability', 'input'],
    additionalProperties: false,
    examples: [{ capability: name, input: example.input }],
  };
}

function operationOf({ name }: Capability, result: Schema, skipped: Schema): Schema {
  return {
    title: name,
    allOf: [
      refTo('OperationCommon'),
      {
        type: 'object',
        properties: {
          capability: { type: 'string', const: name },
          result: {
            description: 'On success; or why nothing was left to do.',
            oneOf: [result, skipped, { type: 'null' }],
          },
        },
        required: ['capability', 'result'],
      },
    ],
  };
}

const NEEDS = {
  nothing: '',
  session: 'The connection must be `ready`.',
  recruiter: 'The connection must be `ready`, and so must its `recruiter.health`.',
} as const;

/** A union of components, by the capability that each is for. */
function oneOf(description: string, variants: ReadonlyMap<string, string>): Schema {
  return {
    description,
    oneOf: [...variants.values()].map(refTo),
    discriminator: {
      propertyName: 'capability',
      mapping: Object.fromEntries([...variants].map(([capability, name]) => [capability, refTo(name).$ref])),
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

function componentOf(schemas: Record<string, Schema>, { $ref }: Schema): Schema | undefined {
  return $ref === undefined ? undefined : schemas[nameOf($ref)];
}
