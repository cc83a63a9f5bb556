import { EventSourceParserStream } from 'eventsource-parser/stream';
import { Agent, fetch } from 'undici';
import { LIMITS } from '../../../storage/limits.js';
import type { ConsolesOrder, ConsolesSeen } from './messages.js';

/** What the overview asks for when the live channel tells that it has changed. */
const ASKED: Readonly<Record<string, string>> = { overview: '/v1/limits', attention: '/v1/attention' };
/** What it asks for once a step. */
const HOUR = '/v1/overview';

const dispatcher = new Agent({ connections: null });

const SESSION = { 'Console-Request': '1' };

/** The cookie of a session, in which all consoles are open: sign-ins are limited. */
async function signIn({ url, key }: ConsolesOrder): Promise<string> {
  const signed = await fetch(`${url}/console/session`, {
    ...{ method: 'POST', dispatcher, body: JSON.stringify({ key }) },
    headers: { ...SESSION, 'Content-Type': 'application/json' },
  });
  if (signed.status !== 200) throw new Error(`POST /console/session: ${signed.status} ${await signed.text()}`);
  return (signed.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** A console as its overview page is: with the live channel open, asking for what has changed. */
async function watch({ url, lead_s, seconds }: ConsolesOrder, cookie: string, seen: ConsolesSeen): Promise<void> {
  const headers = { ...SESSION, cookie };
  const signal = AbortSignal.timeout((lead_s + seconds) * 1_000);
  const get = async (path: string) => {
    const answer = await fetch(url + path, { dispatcher, headers, signal });
    seen.bytes += (await answer.arrayBuffer()).byteLength;
    seen.requests++;
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status}`);
  };
  try {
    for (const path of [HOUR, ...Object.values(ASKED)]) await get(path);
    let hour_ms = performance.now();
    const live = await fetch(`${url}/console/live`, { dispatcher, headers, signal });
    if (live.status !== 200 || !live.body) throw new Error(`GET /console/live: ${live.status}`);
    for await (const { event, data } of live.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())) {
      if (event !== 'changed') continue;
      seen.changes++;
      for (const topic of JSON.parse(data) as string[]) if (ASKED[topic]) await get(ASKED[topic]);
      if (performance.now() - hour_ms < LIMITS.overview_step_ms) continue;
      hour_ms = performance.now();
      await get(HOUR);
    }
    throw new Error('the live channel ended');
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

process.once('message', async (order: ConsolesOrder) => {
  const seen: ConsolesSeen = { requests: 0, bytes: 0, changes: 0, cpu_ms: 0 };
  const cookie = await signIn(order);
  let before = process.cpuUsage();
  setTimeout(() => {
    Object.assign(seen, { requests: 0, bytes: 0, changes: 0 });
    before = process.cpuUsage();
  }, order.lead_s * 1_000);
  await Promise.all(Array.from({ length: order.consoles }, () => watch(order, cookie, seen)));
  const { user, system } = process.cpuUsage(before);
  seen.cpu_ms = (user + system) / 1_000;
  process.send?.(seen, () => process.exit());
});
