import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTypes, { astToString } from 'openapi-typescript';
import t from 'tap';
import ts from 'typescript';
import { request } from 'undici';
import { receiveCallbacks } from '../fixture/callbacks.js';
import { inSharedService } from '../fixture/shared-service.js';
import { DocumentedExchanges, readReference } from '../server/openapi/documented-exchanges.js';
import type { Document } from '../server/openapi/openapi-schemas.js';
import { documentedFetch } from './generated-client/documented.js';

const ROOT = join(import.meta.dirname, '../../..');

/** What the customer's file gives; the file itself is typed by what was generated for it. */
interface CustomerCode {
  connect(service: { url: string; key: string; fetch: (request: Request) => Promise<Response> }): unknown;
  mainStory(api: unknown, receiver: object): Promise<object>;
  challengeStory(api: unknown): Promise<object>;
}

t.test('a client generated from the reference lives the simulated story', async (t) => {
  const callbacks = await receiveCallbacks(t);
  const { url, key } = await inSharedService(t);
  // The compiler below keeps this process from hearing that an idle connection is closed: none is kept.
  const document = (await (await request(`${url}/openapi.json`, { reset: true })).body.json()) as Document;

  const folder = await mkdtemp(join(tmpdir(), 'generated-client-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const client = join(folder, 'client.js');
  await cp(join(ROOT, 'test/story/generated-client/client.js'), client);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const types = astToString(await openapiTypes(JSON.stringify(document)));
  await writeFile(join(folder, 'api.ts'), types);
  const misspelt = join(folder, 'misspelt.js');
  await writeFile(misspelt, MISSPELT);
  const errors = typeErrors([client, misspelt]);
  const found = (file: string) => errors.filter((error) => error.file === file).map(({ text }) => text);
  t.match(found(misspelt), [/keyword/, /heath/], 'the generated types are strict');
  t.same(
    errors.filter(({ file }) => file !== misspelt),
    [],
    'and the client fits them',
  );

  const { connect, mainStory, challengeStory } = (await import(pathToFileURL(client).href)) as CustomerCode;
  const exchanges = new DocumentedExchanges(readReference(document));
  const api = connect({ url, key, fetch: documentedFetch(exchanges) });
  const answers = await mainStory(api, {
    callbackUrl: callbacks.url,
    secret: callbacks.secret,
    delivered: () => callbacks.next((one) => one.event?.type === 'message_received'),
  });
  t.match(answers, {
    conflict: 'connection_conflict',
    login: 'succeeded',
    people: [{ hash_id: String }],
    sent: { status: 'succeeded' },
    replayed: { id: (answers as { sent: { id: string } }).sent.id, mark: 'true' },
    failed: { code: 'upstream_error', status: 502 },
    unknown: 'yes',
    skipped: 'invitation_pending',
    valid: true,
    event: 'Hello Grace',
    delivery: 1,
    notFailed: 'delivery_not_failed',
    nextCursor: String,
    invited: 200,
    wrong: 'input.public_ids',
    deleted: 204,
    gone: 'not_found',
  });
  t.match(await challengeStory(api), { kind: 'sms', status: 'succeeded' });
  t.same(exchanges.faults, [], 'every exchange is as the reference documents it');
  t.ok(exchanges.seen.size > 15, `answers looked at: ${exchanges.seen.size}`);
});

/** Two mistakes that the types must find: a field that no input has, and one that no connection has. */
const MISSPELT = `
/** @import { components } from './api.js' */
/** @type {components['schemas']['OperationInput']} */
export const search = { capability: 'social.people.search', input: { keyword: 'engineer' } };
/** @param {components['schemas']['Connection']} connection */
export const ready = (connection) => connection.heath === 'ready';
`;

function typeErrors(files: string[]): { file: string | undefined; text: string }[] {
  const program = ts.createProgram(files, {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => ({
    file: file?.fileName,
    text: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}
