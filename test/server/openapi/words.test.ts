import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { TRIGGERS, triggersOf } from '../../../actors/simulated/triggers.js';
import { buildDocument } from '../../../server/openapi/document.js';
import { routes } from '../../../server/table.js';
import { AUDIT_ACTIONS } from '../../../storage/model/audit.js';
import { HTTP_ERRORS, OPERATION_ERRORS } from '../../../storage/model/error-codes.js';
import type { Document, Schema } from './openapi-schemas.js';

/** Whatever the reference names it also explains, in words that are meant for its readers. */

const document = JSON.parse(JSON.stringify(buildDocument(routes, false))) as Document;

type Visit = (node: Record<string, unknown>, path: string) => void;

/** A key as a step of a JSON pointer, and back. */
const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
const unescaped = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');

/** Every object of the document but examples, with its path. */
function walk(node: unknown, path: string, visit: Visit): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) visit(node as Record<string, unknown>, path);
  for (const [key, inner] of Object.entries(node)) {
    if (key !== 'examples' && key !== 'example') walk(inner, `${path}/${escaped(key)}`, visit);
  }
}

/** Two words at least. */
const explains = (text: unknown) => typeof text === 'string' && /\S\s+\S/.test(text);

t.test('every property, component, route, parameter, header and answer has words', async (t) => {
  const silent: string[] = [];
  let properties = 0;
  const wanted = (found: Record<string, unknown>, path: string) => {
    if (!explains(found.description)) silent.push(path);
  };
  walk(document, '', (node, path) => {
    const inside = path.slice(path.lastIndexOf('/') + 1);
    if (inside === 'properties') {
      for (const [name, schema] of Object.entries(node)) wanted(schema as Schema, `${path}/${name}`);
      properties += Object.keys(node).length;
    }
    if ('responses' in node && 'operationId' in node) {
      wanted(node, path);
      // Readers are shown it as it stands.
      if (!explains(node.summary) || /[`*]/.test(String(node.summary))) silent.push(`${path} summary`);
      for (const [status, answer] of Object.entries(node.responses as object)) {
        if (!('$ref' in answer)) wanted(answer, `${path} ${status}`);
      }
    }
    if ('in' in node && 'name' in node) wanted(node, `${path} ${node.name}`);
    if (inside === 'requestBody') wanted(node, path);
  });
  for (const part of ['schemas', 'responses', 'headers', 'parameters', 'securitySchemes'] as const) {
    const named = (document.components as unknown as Record<string, Record<string, Schema>>)[part] ?? {};
    for (const [name, one] of Object.entries(named)) wanted(one, `${part}/${name}`);
  }
  for (const tag of document.tags) wanted({ ...tag }, `tag ${tag.name}`);
  t.same(silent, []);
  t.ok(properties > 500, `and there are many: ${properties}`);
});

/** Explained elsewhere: a code where a reader begins; kinds of names and languages are what they are called. A status before is one as the status after. */
const EXPLAINED = /TypeaheadKind|code|\/reason|Transition\/properties\/from|profile_languages|scopes/;
/** As are a capability by its submission, an action of the audit log in its section, and the code of an operation that failed. */
const NAMES = new Set<unknown>([
  ...capabilities.map(({ name }) => name),
  ...Object.keys(AUDIT_ACTIONS),
  ...Object.keys(OPERATION_ERRORS),
]);

t.test('every status and kind is explained, by its value', async (t) => {
  const missing: string[] = [];
  let checked = 0;
  walk(document, '', ({ enum: values, description = '', $ref }, path) => {
    if (!Array.isArray(values) || $ref || EXPLAINED.test(path) || values.every((value) => NAMES.has(value))) return;
    checked++;
    const told = path.endsWith('/items') || path.endsWith('/schema') ? wordsAbove(path) : String(description);
    for (const value of values) if (value !== null && !told.includes(`\`${value}\``)) missing.push(`${path} ${value}`);
  });
  t.same(missing, []);
  t.ok(checked > 20, `and there are many: ${checked}`);
});

/** The words of a list stand at the list, those of a parameter at the parameter. */
function wordsAbove(path: string): string {
  let node: unknown = document;
  for (const step of path.split('/').slice(1, -1)) node = (node as Record<string, unknown>)[unescaped(step)];
  return String((node as Schema).description);
}

t.test('every code is explained where a reader begins, and so are every trigger and action', async (t) => {
  const rows = (text = '') => text.split('\n').filter((line) => line.startsWith('|'));
  const codes = rows(document.info.description).join('\n');
  for (const code of [...Object.keys(HTTP_ERRORS), ...Object.keys(OPERATION_ERRORS)]) {
    t.match(codes, new RegExp(`\\| \`${code}\` +\\| \\S+ \\S+`), code);
  }
  const actions = rows(document.tags.find(({ name }) => name === 'Audit')?.description).join('\n');
  for (const [action, meaning] of Object.entries(AUDIT_ACTIONS)) {
    t.ok(actions.includes(meaning) && actions.includes(`\`${action}\``), action);
  }
  const triggers = rows(document.tags.find(({ name }) => name === 'Connections')?.description).join('\n');
  for (const { word, example, meaning } of TRIGGERS) {
    t.ok(triggers.includes(meaning) && triggers.includes(`\`${example}\``), word);
    t.notSame(triggersOf(null, { example }), triggersOf(null, {}), `${example} is one`);
  }
});

t.test('no words are meant for those who write the service', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../../package.json'), 'utf8');
  const { dependencies } = JSON.parse(page) as { dependencies: Record<string, string> };
  // A node is also one of the machines that the service runs on.
  const libraries = Object.keys(dependencies).filter((name) => name !== 'node');
  const escaped = [...libraries, 'uWebSockets', 'PostgreSQL', 'TypeScript'].map((name) =>
    name.replaceAll(/[^\w-]/g, '\\$&'),
  );
  const names = new RegExp(`(?<![\\w-])(?:${escaped.join('|')})(?![\\w-])`, 'i');
  const CITATION = /\(contract:|\b(?:HTTP|CONN|OPS|EVT|SIM|COMPAT|STO)-\d/;
  const found: string[] = [];
  walk(document, '', ({ description, summary }, path) => {
    for (const text of [description, summary]) {
      if (typeof text !== 'string') continue;
      const remark = names.exec(text) ?? CITATION.exec(text);
      if (remark) found.push(`${path}: ${remark[0]}`);
    }
  });
  t.same(found, []);
});
