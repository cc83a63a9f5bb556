import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright';
import { findBrowser } from '../../../browser-pool/chromium/find-browser.js';

/** What the overview takes of a browser, in milliseconds a second. */
export interface MainThreadUse {
  /** How long its main thread is in tasks: what a person would wait for. */
  tasks_ms: number;
  /** Processor time of that thread. */
  processor_ms: number;
}

/** Signs in with the key, opens the overview and measures the main thread of its page for so long. Throws where there is no browser. */
export async function mainThreadOf(url: string, key: string, seconds: number): Promise<MainThreadUse> {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('no browser is installed');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${url}/console`);
    await page.getByLabel('Key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.plot canvas').nth(2).waitFor();
    await page.getByText('Up to date').waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const read = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
      return { at_s: of('Timestamp'), tasks_s: of('TaskDuration'), processor_s: of('ThreadTime') };
    };
    const before = await read();
    await delay(seconds * 1_000);
    const after = await read();
    const share = (name: 'tasks_s' | 'processor_s') =>
      ((after[name] - before[name]) * 1_000) / (after.at_s - before.at_s);
    return { tasks_ms: share('tasks_s'), processor_ms: share('processor_s') };
  } finally {
    await browser.close();
  }
}
