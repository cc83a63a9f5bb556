import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { request } from 'undici';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { buildDocument } from '../../../server/openapi/document.js';
import { routes } from '../../../server/table.js';
import { HTTP_ERRORS, OPERATION_ERRORS } from '../../../storage/model/errors.js';
import { startTestEdge } from '../edge-fixture.js';
import { type Document, pointerTo, schemaChecks } from './openapi-schemas.js';

const built = JSON.stringify(buildDocument(routes));
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
  const schema = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content['application/json']?.schema;
  return nameIn((schema as { $ref: string } | undefined)?.$ref);
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
});

t.test('it tells the scopes of every route', async (t) => {
  for (const { method, path, scopes } of routes) {
    const security = document.paths[path]?.[method.toLowerCase()]?.security ?? [];
    const told = security.map((one) => one.workspaceKey);
    const expected = scopes === 'none' ? undefined : [...scopes];
    t.same(told, [expected, expected], `${method} ${path}`);
  }
});

t.test('it tells every capability, with its input and its result', async (t) => {
  const names = capabilities.map(({ name }) => name);
  for (const union of ['OperationInput', 'Operation']) {
    const variants = variantsOf(union);
    t.same(Object.keys(variants), names);
    t.same(
      schemas[union]?.oneOf?.map(({ $ref }) => nameIn($ref)),
      Object.values(variants),
    );
  }
});

t.test('it tells every code that an answer or an operation can have', async (t) => {
  const inAnswers = new Set(JSON.stringify(responses).match(/(?<=")[a-z_]+(?=")/g));
  // No documented method of a documented path is a wrong one.
  const codes = Object.keys(HTTP_ERRORS).filter((code) => code !== 'method_not_allowed');
  t.same(
    codes.filter((code) => !inAnswers.has(code)),
    [],
  );
  const fields = schemas.OperationCommon?.properties as Record<string, { enum: (string | null)[] }> | undefined;
  t.same(fields?.error_code?.enum.toSorted(), [...Object.keys(OPERATION_ERRORS), null].toSorted());
  for (const [name, { content }] of Object.entries(responses)) {
    if (!/(Busy|Conflict|Ready|Failed|Inactive|Unknown|Simulated|AcceptingCode)$/.test(name)) continue;
    const schema = content?.['application/json']?.schema as { properties: object; additionalProperties: boolean };
    t.same(
      [Object.keys(schema.properties), schema.additionalProperties],
      [['code'], false],
      `${name} is exactly {code}`,
    );
  }
});

t.test('every example is what its own schema describes', async (t) => {
  const check = schemaChecks(document);
  let checked = 0;
  for (const [name, { examples = [] }] of Object.entries(schemas)) {
    const valid = check(pointerTo('components', 'schemas', name));
    for (const example of examples) {
      t.ok(valid(example), `${name}: ${JSON.stringify(valid.errors)}`);
      checked++;
    }
  }
  t.ok(checked > capabilities.length * 2, 'and there are many');
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

t.test('the callback of a subscription tells its headers', async (t) => {
  const event = document.paths['/v1/connections/{connection_id}/subscriptions']?.post?.callbacks?.event;
  const { parameters } = Object.values(event ?? {})[0]?.post ?? {};
  t.same(
    parameters?.map(({ name }) => name),
    [
      'X-CS-Event-Id',
      'X-CS-Delivery-Id',
      'X-CS-Timestamp',
      'X-CS-Signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
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
});
