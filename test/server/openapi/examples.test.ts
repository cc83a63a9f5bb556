import t from 'tap';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { buildDocument } from '../../../server/openapi/document.js';
import { routes } from '../../../server/table.js';
import type { OperationStatus } from '../../../storage/model/records.js';
import { OPERATION_STEPS } from '../../../storage/model/transitions.js';
import {
  type Document,
  type DocumentedContent,
  type DocumentedParameter,
  pointerTo,
  type Schema,
  schemaChecks,
} from './openapi-schemas.js';

/** Examples are true: each is what its schema describes, and they tell one story in which everything fits together. */

const document = JSON.parse(JSON.stringify(buildDocument(routes, false))) as Document;
const { schemas, responses, parameters, headers } = document.components;
const check = schemaChecks(document);

/** Every body of the document, with its JSON pointer. */
function bodies(): [pointer: string, content: DocumentedContent][] {
  const json = (pointer: string, content: Record<string, DocumentedContent> | undefined) =>
    content?.['application/json']
      ? [
          [pointer + pointerTo('content', 'application/json'), content['application/json']] as [
            string,
            DocumentedContent,
          ],
        ]
      : [];
  const shared = Object.entries(responses).flatMap(([name, { content }]) =>
    json(pointerTo('components', 'responses', name), content),
  );
  const own = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const at = pointerTo('paths', path, method);
      const answers = Object.entries(operation.responses).flatMap(([status, { content }]) =>
        json(at + pointerTo('responses', status), content),
      );
      return [...json(at + pointerTo('requestBody'), operation.requestBody?.content), ...answers];
    }),
  );
  return [...shared, ...own];
}

const componentOf = ({ $ref = '' }: Schema): Schema | undefined => schemas[$ref.slice($ref.lastIndexOf('/') + 1)];

/** Examples of a body: its own, or those of its type. */
function examplesOf({ schema, examples }: DocumentedContent): unknown[] {
  return examples ? Object.values(examples).map(({ value }) => value) : ofType(schema);
}

function ofType(schema: Schema): unknown[] {
  const { examples, oneOf = [], ...rest } = componentOf(schema) ?? schema;
  return examples ?? [...oneOf, ...(rest.allOf ?? [])].flatMap(ofType);
}

t.test('every example is what its schema describes, and every body has one', async (t) => {
  let checked = 0;
  const hold = (pointer: string, examples: unknown[]) => {
    const valid = check(pointer);
    t.ok(examples.length > 0, `${pointer} has an example`);
    for (const example of examples) t.ok(valid(example), `${pointer}: ${JSON.stringify(valid.errors)}`);
    checked += examples.length;
  };
  for (const [pointer, content] of bodies()) hold(`${pointer}/schema`, examplesOf(content));
  for (const [name, { examples }] of Object.entries(schemas)) {
    if (examples) hold(pointerTo('components', 'schemas', name), examples);
  }
  const exampleOf = ({ example, examples }: Partial<DocumentedParameter>) => [
    examples ? examples.usual.value : example,
  ];
  for (const [name, parameter] of Object.entries(parameters)) {
    hold(`${pointerTo('components', 'parameters', name)}/schema`, exampleOf(parameter));
  }
  for (const [name, { example }] of Object.entries(headers)) {
    hold(`${pointerTo('components', 'headers', name)}/schema`, [example]);
  }
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      for (const [i, parameter] of operation.parameters.entries()) {
        if (parameter.$ref) continue;
        hold(`${pointerTo('paths', path, method, 'parameters', String(i))}/schema`, exampleOf(parameter));
      }
    }
  }
  t.ok(checked > 300, `and there are many: ${checked}`);
});

t.test('every field is filled in by some example', async (t) => {
  const filled = new Set<string>();
  /** Marks the fields of `value`, which is of this schema; a variant of a union counts where the value is one of it. */
  const mark = (schema: Schema, pointer: string, value: unknown): void => {
    const named = componentOf(schema);
    if (named) mark(named, pointerTo('components', 'schemas', String(schema.$ref?.split('/').at(-1))), value);
    for (const keyword of ['oneOf', 'allOf'] as const) {
      for (const [i, one] of (schema[keyword] ?? []).entries()) {
        const at = `${pointer}/${keyword}/${i}`;
        if (keyword === 'allOf' || check(at)(value)) mark(one, at, value);
      }
    }
    if (Array.isArray(value) && schema.items) for (const one of value) mark(schema.items, `${pointer}/items`, one);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const inner = (value as Record<string, unknown>)[name];
      if (inner === undefined) continue;
      filled.add(`${pointer}/properties/${name}`);
      mark(property, `${pointer}/properties/${name}`, inner);
    }
  };
  for (const [name, { examples = [] }] of Object.entries(schemas)) {
    for (const example of examples) mark({ $ref: `/${name}` }, '', example);
  }
  for (const [pointer, content] of bodies()) {
    for (const example of examplesOf(content)) mark(content.schema, `${pointer}/schema`, example);
  }
  const empty: string[] = [];
  const look = (schema: Schema, pointer: string): void => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (!filled.has(`${pointer}/properties/${name}`)) empty.push(`${pointer}/properties/${name}`);
      look(property, `${pointer}/properties/${name}`);
    }
    for (const keyword of ['oneOf', 'allOf'] as const) {
      for (const [i, one] of (schema[keyword] ?? []).entries()) look(one, `${pointer}/${keyword}/${i}`);
    }
    if (schema.items) look(schema.items, `${pointer}/items`);
  };
  for (const [name, schema] of Object.entries(schemas)) look(schema, pointerTo('components', 'schemas', name));
  t.same(empty, []);
});

/** Every value that an example holds, at any depth. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

const examples = [
  ...bodies().flatMap(([, content]) => examplesOf(content)),
  ...Object.values(schemas).flatMap(({ examples = [] }) => examples),
];
const objects = examples.flatMap((example) => [...objectsIn(example)]);

t.test('an id means the same thing in every example, request or answer', async (t) => {
  const pathIds = new Map<string, unknown>();
  for (const { parameters: own } of Object.values(document.paths).flatMap(Object.values)) {
    for (const { in: place, name = '', example } of own) if (place === 'path') pathIds.set(name, example);
  }
  for (const object of objects) {
    for (const [name, id] of pathIds)
      if (object[name] !== undefined && object[name] !== null) t.equal(object[name], id, name);
  }
  const kinds = {
    connection: /^Connection$/,
    subscription: /^(New)?Subscription(Detail)?$/,
    event: /Event(Summary)?$/,
    delivery: /^Delivery(Detail)?$/,
    operation: /(Operation|Succeeded)$/,
  };
  for (const [kind, pattern] of Object.entries(kinds)) {
    const own = Object.entries(schemas)
      .filter(([name]) => pattern.test(name))
      .flatMap(([, { examples = [] }]) => examples);
    t.ok(own.length > 0, kind);
    for (const one of own) t.equal((one as { id: string }).id, pathIds.get(`${kind}_id`), kind);
  }
  const [waiting] = schemas.WaitingOperation?.examples ?? [];
  const [answer] = schemas.ChallengeInput?.examples ?? [];
  const { challenge } = waiting as { challenge: { id: string } };
  t.match(answer, { challenge_id: challenge.id }, 'the code is for the challenge that waits');
});

interface ExampleOperation {
  status: OperationStatus;
  result: unknown;
  error_code: string | null;
  error_details: { retryable: boolean } | null;
  challenge: unknown;
  evidence: unknown;
  created_at: string;
  updated_at: string;
  attempts: { started_at: string; completed_at: string | null }[];
  timeline: { from: OperationStatus | null; to: OperationStatus; at: string }[];
}

t.test('an operation has what its status promises, and its moments follow each other', async (t) => {
  const operations = objects.filter((object) => 'timeline' in object) as unknown as ExampleOperation[];
  t.same(new Set(operations.map(({ status }) => status)), new Set(OPERATION_STEPS.statuses), 'each status is seen');
  for (const { status, created_at, updated_at, attempts, timeline, ...rest } of operations) {
    const present = Object.entries(rest)
      .filter(([name, value]) => /^(result|error|challenge|evidence)/.test(name) && value !== null)
      .map(([name]) => name);
    const promised: Partial<Record<OperationStatus, string[]>> = {
      succeeded: ['result'],
      skipped: ['result'],
      failed: ['error_code', 'error_details'],
      waiting_user: ['challenge'],
      outcome_unknown: ['evidence'],
    };
    t.same(present, promised[status] ?? [], status);
    const moments = [created_at, ...timeline.map(({ at }) => at), updated_at];
    t.same(moments, moments.toSorted(), 'time goes on');
    for (const { started_at, completed_at } of attempts) {
      t.ok(
        created_at <= started_at && (completed_at ?? updated_at) >= started_at && (completed_at ?? '') <= updated_at,
      );
    }
    for (const [i, { from, to }] of timeline.entries()) {
      t.equal(from, timeline[i - 1]?.to ?? null);
      if (from) OPERATION_STEPS.check(from, to);
    }
    t.equal(timeline.at(-1)?.to, status, 'the timeline ends there');
  }
});

t.test('a result is that of the input beside it', async (t) => {
  for (const { name, example } of capabilities) {
    const [input, result] = [example.input, example.result] as Record<string, unknown>[];
    for (const field of ['kind', 'start', 'start_index', 'recipient_actor_id', 'contract']) {
      if (input?.[field] !== undefined && result?.[field] !== undefined)
        t.same(result[field], input[field], `${name} ${field}`);
    }
    const to = result?.destination as Record<string, unknown> | undefined;
    for (const [field, id] of Object.entries(to ?? {})) t.equal(id, input?.[field], `${name} ${field}`);
  }
});
