import { createConfig, lintFromString } from '@redocly/openapi-core';
import t from 'tap';
import { buildDocument } from '../../../server/openapi/document.js';
import { routes } from '../../../server/table.js';

/** The rules that others hold documents to: all that the maker recommends, and those that only other linters recommend. */

const ALSO = {
  'no-ambiguous-paths': 'error',
  'no-invalid-media-type-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'no-unused-components': 'error',
  'operation-description': 'error',
  'operation-operationId': 'error',
  'operation-tag-defined': 'error',
  'tag-description': 'error',
} as const;

t.test('redocly has nothing to say', async (t) => {
  const config = await createConfig({ extends: ['recommended'], rules: ALSO });
  const source = JSON.stringify(buildDocument(routes, false));
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  t.same(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    [],
  );
});
