import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { request } from 'undici';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { buildDocument } from '../../../server/openapi/document.js';
import { routes } from '../../../server/table.js';
import { HTTP_ERRORS, OPERATION_ERRORS } from '../../../storage/model/error-codes.js';
import { startTestEdge } from '../edge-fixture.js';
import { type Document, type DocumentedOperation, pointerTo, schemaChecks } from './openapi-schemas.js';

const built = JSON.stringify(buildDocument(routes, false));
const document = JSON.parse(built) as Document;
const { schemas, responses } = document.components;

/** The component of each capability among those of a union. */
function variantsOf(union: string): Record<string, string> {
  const told = schemas[union]?.discriminator as { mapping: Record<string, string> } | undefined;
  return Object.fromEntries(
    Object.entries(told?.mapping ?? {}).map(([capability, $ref]) => [capability, nameIn($ref)]),
  );
}

function nameIn($ref = ''): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** The component that a route takes as its body. */
function inputOf(path: string, method: string): string {
  return nameIn(bodyOf(document.paths[path]?.[method.toLowerCase()])?.$ref);
}

function bodyOf(operation: DocumentedOperation | undefined): { $ref?: string } | undefined {
  return operation?.requestBody?.content['application/json']?.schema;
}

t.test('the document is valid OpenAPI 3.1', async (t) => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(built));
  t.ok(valid, JSON.stringify(errors));
  t.equal(validator.version, '3.1');
});

t.test('it has every route of the table and no other', async (t) => {
  const told = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  t.same(told.sort(), routes.map(({ method, path }) => `${method} ${path}`).sort());
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
  t.equal(new Set(ids).size, ids.length, 'operation ids are unique');
  const tags = document.tags.map(({ name }) => name);
  t.equal(new Set(tags).size, tags.length, 'and so are tags');
});

t.test('it tells the scopes of every route', async (t) => {
  for (const { method, path, scopes } of routes) {
    const operation = document.paths[path]?.[method.toLowerCase()];
    const open = scopes === 'none';
    const key = open ? undefined : [];
    t.same(
      operation?.security.map((one) => one.workspaceKey),
      [key],
      `${method} ${path}`,
    );
    t.same(operation?.['x-required-scopes'], open ? undefined : scopes);
    for (const scope of open ? [] : scopes) t.match(operation?.description, `\`${scope}\``);
  }
});

t.test('it tells every capability, with its input and its result', async (t) => {
  const names = capabilities.map(({ name }) => name);
  for (const union of ['OperationInput', 'SucceededOperation']) {
    const variants = variantsOf(union);
    t.same(Object.keys(variants), names);
    t.same(
      schemas[union]?.oneOf?.map(({ $ref }) => nameIn($ref)),
      Object.values(variants),
    );
  }
});

t.test('it tells every status of an operation and every type of an event apart', async (t) => {
  const apart = (union: string) => Object.keys(variantsOf(union)).sort();
  t.same(apart('Operation'), schemas.OperationStatus?.enum?.toSorted());
  t.same(apart('Event'), schemas.RecordedEventType?.enum?.toSorted());
  t.same(Object.keys(document.webhooks), [...Object.keys(variantsOf('Event')), 'subscription.verification']);
  t.same(nameIn(bodyOf(document.webhooks.message_received?.post)?.$ref), 'MessageReceivedEvent');
});

t.test('it tells every code that an answer or an operation can have', async (t) => {
  const inAnswers = new Set(JSON.stringify(responses).match(/(?<=")[a-z_]+(?=")/g));
  // No documented method of a documented path is a wrong one.
  const codes = Object.keys(HTTP_ERRORS).filter((code) => code !== 'method_not_allowed');
  t.same(
    codes.filter((code) => !inAnswers.has(code)),
    [],
  );
  const fields = schemas.FailedOperation?.properties as Record<string, { enum: string[] }> | undefined;
  t.same(fields?.error_code?.enum.toSorted(), Object.keys(OPERATION_ERRORS).toSorted());
  const conflict = schemas.Conflict as { properties: object; additionalProperties: boolean };
  t.same([Object.keys(conflict.properties), conflict.additionalProperties], [['code'], false]);
  for (const [name, { content }] of Object.entries(responses)) {
    if (!/(Busy|Conflict|Ready|Failed|Inactive|Unknown|Simulated|AcceptingCode)$/.test(name)) continue;
    const [whole, codes] = content?.['application/json']?.schema.allOf ?? [];
    t.same(
      [nameIn(whole?.$ref), Object.keys(codes?.properties ?? {})],
      ['Conflict', ['code']],
      `${name} is exactly {code}`,
    );
  }
});

t.test('the service takes every example of a request, and refuses what the schema refuses', async (t) => {
  const check = schemaChecks(document);
  for (const { method, path, body } of routes) {
    if (body.kind !== 'json') continue;
    const name = inputOf(path, method);
    const variants = schemas[name]?.oneOf?.map(({ $ref }) => nameIn($ref)) ?? [name];
    const valid = check(pointerTo('components', 'schemas', name));
    for (const example of variants.flatMap((variant) => schemas[variant]?.examples ?? [])) {
      t.ok(body.validate(example).success, `${method} ${path} takes ${JSON.stringify(example)}`);
      const stranger = { ...(example as object), stranger: 1 };
      t.notOk(valid(stranger) || body.validate(stranger).success, `${name} knows no field 'stranger'`);
    }
  }
  const submissions = variantsOf('OperationInput');
  for (const capability of capabilities) {
    const [example] = schemas[submissions[capability.name] ?? '']?.examples ?? [];
    const { input } = example as { input: Record<string, unknown> };
    t.ok(capability.validate(input).success, `${capability.name} takes its example`);
    t.same(capability.refine?.(input, { providerDomains: ['social.test'] }) ?? [], []);
  }
});

t.test('it tells that idempotency keys are ASCII, wherever one is taken', async (t) => {
  const keys = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(
      ({ parameters = [] }) => parameters as { name?: string; description?: string; schema?: { pattern?: string } }[],
    )
    .filter(({ name }) => name === 'Idempotency-Key');
  t.equal(keys.length, 2);
  for (const { description, schema } of keys) {
    t.match(description, /A key is ASCII, U\+0020–U\+007E/);
    t.match(description, /400 `validation_error` where they stand inside, and undefined where they stand at its ends/);
    const pattern = new RegExp(schema?.pattern ?? '');
    t.strictSame(
      ['key', 'a key', 'k\u00e4y', ' '].map((key) => pattern.test(key)),
      [true, true, false, false],
    );
  }
});

t.test('the callback of a subscription tells its headers', async (t) => {
  const event = document.paths['/v1/connections/{connection_id}/subscriptions']?.post?.callbacks?.event;
  const { parameters } = Object.values(event ?? {})[0]?.post ?? {};
  t.same(
    parameters?.map(({ $ref }) => nameIn($ref)),
    [
      'X-CS-Event-Id',
      'X-CS-Delivery-Id',
      'X-CS-Connection-Reference',
      'X-CS-Timestamp',
      'X-CS-Signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'traceparent',
    ],
  );
});

t.test('it is served without a key, and a current copy is not sent again', async (t) => {
  const { call } = await startTestEdge(t);
  const first = await call('GET', '/openapi.json', { key: '' });
  t.match(first, { status: 200, headers: { 'content-type': /^application\/json/, 'cache-control': 'no-cache' } });
  t.same(first.json, document);
  const again = await call('GET', '/openapi.json', {
    key: '',
    headers: { 'If-None-Match': String(first.headers.etag) },
  });
  t.match(again, { status: 304, text: '', headers: { etag: first.headers.etag } });
  const other = await call('GET', '/openapi.json', { key: '', headers: { 'If-None-Match': '"another"' } });
  t.equal(other.status, 200);
});

t.test('hosted, it asks for the gateway headers as everything does', async (t) => {
  const { url } = await startTestEdge(t, { gateway: { id: 'gate', secret: 'way' } });
  const headers = { 'Gateway-Access-Client-Id': 'gate', 'Gateway-Access-Client-Secret': 'way', 'User-Agent': 'test' };
  for (const path of ['/openapi.json', '/docs', '/docs/start.js']) {
    const refused = await request(url + path);
    t.match(await refused.body.json(), { code: 'gateway_unauthorized' });
    const taken = await request(url + path, { headers });
    await taken.body.dump();
    t.same([refused.statusCode, taken.statusCode], [401, 200], path);
  }
  const told = (await (await request(`${url}/openapi.json`, { headers })).body.json()) as Document;
  const gateway = ['gatewayClientId', 'gatewayClientSecret'];
  const schemes = ({ components }: Document) => Object.keys(components.securitySchemes).sort();
  t.same(
    [schemes(document), schemes(told)],
    [
      ['consoleSession', 'workspaceKey'],
      ['consoleSession', ...gateway, 'workspaceKey'],
    ],
  );
  t.same(told.paths['/healthz']?.get?.security, [{ gatewayClientId: [], gatewayClientSecret: [] }]);
});
