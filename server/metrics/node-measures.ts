import type { HistogramSnapshot } from '../../actors/histogram.js';
import type { Node } from '../../actors/node/node.js';
import type { NodeMeasures } from '../../storage/overview/steps.js';
import { sum } from './metric.js';
import { oldestQueued_s, queuedOf } from './operation-metrics.js';

/** What a node measures of itself for those who look at nodes: as it is when asked, but for the batches, which are those since the call before. */
export function nodeMeasures(node: Pick<Node, 'stats' | 'status'>): () => Omit<NodeMeasures, 'database_ms'> {
  let before = { items: 0, batches: 0 };
  return () => {
    const { hosts, browsers, threadRestarts } = node.stats();
    const { state, actorThreads, browserThreads } = node.status();
    const now = submissions(hosts.map(({ batches }) => batches.submit));
    const [items, batches] = [now.items - before.items, now.batches - before.batches];
    before = now;
    return {
      queued: queuedOf(hosts),
      oldest_queued_s: oldestQueued_s(hosts),
      threads: actorThreads + browserThreads,
      thread_restarts: threadRestarts,
      mailboxes: sum(hosts, (host) => host.connections),
      browsers: sum(browsers, ({ browser }) => Number(browser === 'running')),
      browser_restarts: sum(browsers, (browser) => browser.restarts),
      contexts: sum(browsers, (browser) => browser.contexts),
      pages: sum(browsers, (browser) => browser.pages + browser.warm_pages),
      runs_waiting: sum(browsers, (browser) => browser.queued),
      // A thread that was replaced counts from zero.
      batch_items: batches > 0 && items >= batches ? items / batches : null,
      draining: state === 'draining',
    };
  };
}

function submissions(threads: HistogramSnapshot[]) {
  return {
    items: sum(threads, (thread) => thread.sum),
    batches: sum(threads, ({ counts }) => sum(counts, (count) => count)),
  };
}
