import { readFile } from 'node:fs/promises';
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
  bytes: Buffer;
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
export function page(): Promise<Buffer> {
  return readFile(join(SOURCES, 'index.html'));
}

/** The page's files by name. One has megabytes: they are read beside the thread. */
export async function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const read = async (path: string, contentType: string) => ({ contentType, bytes: await readFile(path) });
  const [pageCss, operationCss, start, viewer] = await Promise.all([
    read(join(SOURCES, 'page.css'), CSS),
    read(join(SOURCES, 'operation.css'), CSS),
    read(join(SOURCES, 'start.js'), JAVASCRIPT),
    read(VIEWER, JAVASCRIPT),
  ]);
  return new Map([
    ['page.css', pageCss],
    ['operation.css', operationCss],
    ['start.js', start],
    ['viewer.js', viewer],
  ]);
}
