import { execFile } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright';

/** As much of the package as the comparison uses; it is no dependency of the project, so its types are not here. */
export interface CrawleePool {
  newPage(options: { pageOptions: Record<string, unknown> }): Promise<Page>;
  destroy(): Promise<void>;
}

interface CrawleeModule {
  BrowserPool: new (options: Record<string, unknown>) => CrawleePool;
  PlaywrightPlugin: new (library: unknown, options: Record<string, unknown>) => unknown;
}

const NAME = '@crawlee/browser-pool';
const VERSION = '3.18.1';

/** Loads the package from a folder of its own, where it is installed on first use. Throws when it cannot be had. */
export async function loadCrawlee(say: (line: string) => void): Promise<CrawleeModule> {
  const folder = join(process.cwd(), '.data/bench/crawlee');
  const installed = join(folder, 'node_modules', NAME, 'package.json');
  if (
    !(await access(installed).then(
      () => true,
      () => false,
    ))
  ) {
    say(`installing ${NAME} ${VERSION} into .data/bench/crawlee, for this comparison only`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true}\n');
    const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${NAME}@${VERSION}`];
    await promisify(execFile)('npm', install, { cwd: folder, timeout: 300_000 });
  }
  return createRequire(join(folder, 'package.json'))(NAME) as CrawleeModule;
}
