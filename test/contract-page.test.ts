import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { capabilities } from '../actors/capabilities/catalogue.js';
import { events } from '../server/openapi/examples/events.js';
import { routes } from '../server/table.js';
import { AUDIT_ACTIONS } from '../storage/model/audit.js';
import { HTTP_ERRORS, OPERATION_ERRORS } from '../storage/model/error-codes.js';
import { SCOPES } from '../storage/model/records.js';

/** The contract's page names everything that the code offers; what it says of each is for its readers to judge. */
const PAGE = readFileSync(join(import.meta.dirname, '../../server/CONTRACT.md'), 'utf8');
const missing = (names: readonly string[]) => names.filter((name) => !PAGE.includes(`\`${name}\``));

t.test('every route is on the page', async (t) => {
  const offered = routes.map(({ method, path }) => `${method} ${path}`).filter((route) => !route.includes('/docs/'));
  t.same(missing(offered), []);
});

t.test('every capability is on the page', async (t) => {
  t.same(missing(capabilities.map(({ name }) => name)), []);
});

t.test('every type of event is on the page', async (t) => {
  t.same(missing(Object.keys(events)), []);
});

t.test('every code, every scope and every action of the audit log is on the page', async (t) => {
  t.same(
    missing([...Object.keys(AUDIT_ACTIONS), ...Object.keys(HTTP_ERRORS), ...Object.keys(OPERATION_ERRORS), ...SCOPES]),
    [],
  );
});
