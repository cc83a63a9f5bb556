import type { Capability } from '../../actors/capabilities/capability.js';
import { type CapabilityName, capabilities } from '../../actors/capabilities/catalogue.js';
import { pascal } from './errors.js';
import { succeeded } from './examples/operations.js';
import { type Components, componentOf, refTo, type Schema } from './schema.js';

/**
 * Turns `OperationInput` into one submission a capability and `SucceededOperation` into one operation a capability,
 * distinguished by `capability`. Both must have been taken from their types already.
 */
export function describeCapabilities(components: Components): void {
  const { schemas } = components;
  const { properties: { capability: chosen } = {}, description = '' } = schemas.SucceededOperation ?? {};
  const submitted = schemas.OperationInput;
  schemas.SucceededOperationBase = withoutFields(schemas.SucceededOperation, ['capability', 'result']);
  nameCapabilities(schemas);
  const submissions = new Map<string, string>();
  const operations = new Map<string, string>();
  for (const capability of capabilities) {
    const [input, result] = signatureOf(capability, components);
    const submission = `${pascal(capability.name)}Submission`;
    schemas[submission] = submissionOf(capability, input, submitted?.properties);
    submissions.set(capability.name, submission);
    const operation = `${pascal(capability.name)}Succeeded`;
    schemas[operation] = operationOf(capability, result, chosen);
    operations.set(capability.name, operation);
  }
  schemas.OperationInput = oneOf(submitted?.description ?? '', submissions);
  schemas.SucceededOperation = oneOf(description, operations);
}

/** Writes the names of all capabilities down once; the type of a name is none that has a name itself. */
function nameCapabilities(schemas: Record<string, Schema>): void {
  schemas.CapabilityName = {
    type: 'string',
    enum: capabilities.map(({ name }) => name),
    description: 'Name of a capability.',
  };
  for (const { properties = {} } of Object.values(schemas)) {
    const { capability, capabilities: several } = properties;
    if (capability?.enum) properties.capability = { ...refTo('CapabilityName'), ...described(capability) };
    if (several?.items?.enum) several.items = refTo('CapabilityName');
  }
}

/** Schemas of a capability's input and result, collected with what they refer to. */
function signatureOf({ name, schemas, bounds, example }: Capability, components: Components): [Schema, Schema] {
  const source = (schemas.components.schemas ?? {}) as Record<string, Schema>;
  const [input, result] = schemas.schemas as Schema[];
  if (!input || !result) throw new Error(`no schemas of ${name}`);
  const read: [Schema, Schema] = [
    components.read(input, source, { closed: true }),
    components.read(result, source, { closed: false }),
  ];
  const taken = componentOf(components.schemas, read[0]);
  for (const [field, keywords] of Object.entries(bounds)) Object.assign(taken?.properties?.[field] ?? {}, keywords);
  const answered = componentOf(components.schemas, read[1]);
  if (taken) taken.examples ??= [example.input];
  if (answered) answered.examples ??= [example.result];
  return read;
}

function submissionOf(
  { name, summary, send, needs, example }: Capability,
  input: Schema,
  fields: Record<string, Schema> = {},
): Schema {
  return {
    type: 'object',
    description: [summary, send && 'Needs the scope `social:send`.', NEEDS[needs]].filter(Boolean).join(' '),
    properties: {
      capability: { ...described(fields.capability), type: 'string', const: name },
      input: { ...input, ...described(fields.input) },
    },
    required: ['capability', 'input'],
    additionalProperties: false,
    examples: [{ capability: name, input: example.input }],
  };
}

function operationOf(capability: Capability<CapabilityName>, result: Schema, chosen: Schema | undefined): Schema {
  const { name } = capability;
  return {
    description: `\`${name}\`, done.`,
    allOf: [
      refTo('SucceededOperationBase'),
      {
        type: 'object',
        properties: {
          capability: { ...described(chosen), type: 'string', const: name },
          result: { ...result, description: 'What the capability gave.' },
        },
        required: ['capability', 'result'],
      },
    ],
    examples: [succeeded(capability)],
  };
}

const NEEDS = {
  nothing: '',
  session: 'The connection must be `ready`.',
  recruiter: 'The connection must be `ready`, and so must its `recruiter.health`.',
} as const;

const described = (schema: Schema | undefined): Schema =>
  schema?.description === undefined ? {} : { description: schema.description };

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
