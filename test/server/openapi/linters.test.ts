import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import t from 'tap';
import { buildDocument } from '../../../server/openapi/document.js';
import { routes } from '../../../server/table.js';

/** The rules that others hold documents to, all of them that their makers recommend. */

const source = JSON.stringify(buildDocument(routes, false));

t.test('redocly has nothing to say under `recommended`', async (t) => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  t.same(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    [],
  );
});

t.test('spectral has nothing to say under `spectral:oas`', async (t) => {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [rulesets.oas] } as Parameters<typeof linter.setRuleset>[0]);
  const results = await linter.run(source);
  t.same(
    results.map(({ code, message, path }) => `${code}: ${message} ${path.join('.')}`),
    [],
  );
});
