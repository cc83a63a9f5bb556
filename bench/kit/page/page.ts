import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plot } from './plot.js';

/** Sources of what the page runs, in the tree and not compiled. */
const SOURCES = join(import.meta.dirname, '../../../../bench/kit/page');

export interface PageContent {
  title: string;
  /** The report as it is printed. */
  text: string;
  plots: Plot[];
}

/** One HTML file that fetches nothing: uPlot's script and style are in it. */
export async function pageOf(content: PageContent): Promise<string> {
  const uplot = dirname(fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css')));
  const [style, own, script, draw] = await Promise.all([
    readFile(join(uplot, 'uPlot.min.css'), 'utf8'),
    readFile(join(SOURCES, 'page.css'), 'utf8'),
    readFile(join(uplot, 'uPlot.iife.min.js'), 'utf8'),
    readFile(join(SOURCES, 'draw.js'), 'utf8'),
  ]);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>${escapeHtml(content.title)}</title>
<style>${style}${own}</style>
<h1>${escapeHtml(content.title)}</h1>
<pre>${escapeHtml(content.text)}</pre>
<main></main>
<script type="application/json" id="plots">${JSON.stringify(content.plots).replaceAll('<', '\\u003c')}</script>
<script>${inline(script)}</script>
<script>${inline(draw)}</script>
</html>
`;
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** A script ends at the first end tag, wherever it stands. */
const inline = (script: string) => script.replaceAll('</script', '<\\/script');
