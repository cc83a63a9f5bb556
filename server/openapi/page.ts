import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The readable reference (HTTP-20): swagger-ui, from files that this service serves itself. Addresses are relative,
 * so that the page also works below a prefix.
 */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
});
`;

/** Allows the page its own files only. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface PageFile {
  contentType: string;
  text: string;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** The page's files by name; read once, at the first request. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return new Map([
    ['swagger-ui.css', { contentType: 'text/css; charset=utf-8', text: read('swagger-ui.css') }],
    ['swagger-ui-bundle.js', { contentType: JAVASCRIPT, text: read('swagger-ui-bundle.js') }],
    ['start.js', { contentType: JAVASCRIPT, text: START }],
  ]);
}
