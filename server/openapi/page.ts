import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Allows the page its own files only. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The viewer makes styles as it runs: neither hash nor nonce names them, as `style` attributes count the lines of what is shown, and a
  // nonce goes to one of its five sheets. They can fetch nothing: the page loads from its own origin alone.
  "style-src 'self' 'unsafe-inline'",
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

const SOURCES = join(import.meta.dirname, '../../../server/openapi/page');
/** Put there by the build: a program of one file, of which the packages that it was made from are no part of the service. */
const VIEWER = join(import.meta.dirname, '../../viewer.js');

const CSS = 'text/css; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/**
 * The readable reference (HTTP-20): a viewer, from files that this service serves itself. Addresses are relative, so that the page
 * also works below a prefix.
 */
export function page(): string {
  return readFileSync(join(SOURCES, 'index.html'), 'utf8');
}

/** The page's files by name; read once, at the first request. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  const read = (path: string, contentType: string) => ({ contentType, text: readFileSync(path, 'utf8') });
  return new Map([
    ['page.css', read(join(SOURCES, 'page.css'), CSS)],
    ['operation.css', read(join(SOURCES, 'operation.css'), CSS)],
    ['start.js', read(join(SOURCES, 'start.js'), JAVASCRIPT)],
    ['viewer.js', read(VIEWER, JAVASCRIPT)],
  ]);
}
