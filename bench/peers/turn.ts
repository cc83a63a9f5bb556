import { setTimeout as delay } from 'node:timers/promises';
import typia from 'typia';
import { request } from 'undici';
import { eventually } from '../kit/eventually.js';
import { LIMITS } from '../kit/limits.js';
import type { Figures, FiguresByName } from './figures.js';
import type { Cpu, Ended, Subject, Submissions } from './subject.js';
import { type Answers, type Requests, sendRequests } from './wrk.js';

export interface TurnOptions {
  seconds: number;
  warmup: number;
  connections: number;
  /** Takes files that are of no more use afterwards. */
  folder: string;
}

/** What a turn measured, and what it should not have seen. */
export interface Turn {
  figures: FiguresByName;
  faults: string[];
}

const assertSubmitted = typia.createAssert<{ id: string }>();

/** Measures each kind of submissions of a subject until all have ended, then polls what it took of the first kind. */
export async function measureTurn(subject: Subject, options: TurnOptions): Promise<Turn> {
  const client = new Client(subject, options);
  const figures: FiguresByName = {};
  for (const [name, submissions] of Object.entries(subject.submissions)) {
    figures[name] = await measureSubmissions(client, name, submissions);
  }
  const [name, submissions] = Object.entries(subject.submissions)[0] as [string, Submissions];
  figures[name] = { ...figures[name], ...(await measurePolls(client, name, submissions)) };
  return { figures, faults: client.faults };
}

/** Sends what a turn sends, and notes what should not be among the answers. */
class Client {
  readonly subject: Subject;
  readonly faults: string[] = [];
  readonly #options: TurnOptions;

  constructor(subject: Subject, options: TurnOptions) {
    this.subject = subject;
    this.#options = options;
  }

  /** Sends for the time of a warm-up, waits until all has ended, and sends for the time of a measurement. */
  async send(what: string, requestsOf: (run: string) => Pick<Requests, 'paths' | 'post'>): Promise<Measured> {
    const { warmup, seconds } = this.#options;
    await this.#sendFor(warmup, what, requestsOf('warmup'));
    await allEnded(this.subject);
    const before = await this.subject.ended();
    const [cpuBefore, began_ms] = [this.subject.cpu(), Date.now()];
    const answers = await this.#sendFor(seconds, what, requestsOf('measured'));
    await allEnded(this.subject);
    const cpu = this.subject.cpu();
    const after = await this.subject.ended();
    const took: Cpu = {
      server_ms: cpu.server_ms - cpuBefore.server_ms,
      store_ms: cpu.store_ms - cpuBefore.store_ms,
    };
    return { answers, before, after, began_ms, took };
  }

  async #sendFor(seconds: number, what: string, requests: Pick<Requests, 'paths' | 'post'>): Promise<Answers> {
    const { url, authorization } = this.subject;
    const { folder, connections } = this.#options;
    const answers = await sendRequests(folder, { url, authorization, seconds, connections, ...requests });
    if (answers.refused > 0) this.faults.push(`${what}: ${answers.refused} answers were refusals`);
    if (answers.broken > 0) this.faults.push(`${what}: ${answers.broken} requests were not answered`);
    return answers;
  }
}

interface Measured {
  answers: Answers;
  before: Ended;
  after: Ended;
  began_ms: number;
  /** From the first request until all had ended, without what it took to count those. */
  took: Cpu;
}

async function measureSubmissions(client: Client, name: string, { paths, body }: Submissions): Promise<Figures> {
  const { answers, before, after, began_ms, took } = await client.send(name, (run) => ({
    paths,
    post: { body, run: `${name.replace(' ', '-')}-${run}` },
  }));
  const ended = after.ended - before.ended;
  // More may have ended: requests under way when the time was over have no answer that counts.
  const lost = answers.answers - answers.refused - ended;
  if (lost > 0) client.faults.push(`${name}: ${lost} accepted operations did not succeed`);
  return {
    submit_per_s: answers.answers / answers.seconds,
    p50_ms: answers.p50_ms,
    p99_ms: answers.p99_ms,
    ended_per_s: (ended * 1_000) / (after.last_ms - began_ms),
    ended,
    server_us: (took.server_ms * 1_000) / ended,
    store_us: (took.store_ms * 1_000) / ended,
    ...writtenBetween(before, after),
  };
}

/** Bytes that PostgreSQL wrote for each operation; of another store nothing. */
function writtenBetween(before: Ended, after: Ended): Figures {
  if (before.wal_bytes === undefined || before.stored_bytes === undefined) return {};
  if (after.wal_bytes === undefined || after.stored_bytes === undefined) return {};
  const ended = after.ended - before.ended;
  return {
    wal_bytes: (after.wal_bytes - before.wal_bytes) / ended,
    stored_bytes: (after.stored_bytes - before.stored_bytes) / ended,
  };
}

async function measurePolls(client: Client, name: string, submissions: Submissions): Promise<Figures> {
  const ids = await submittedIds(client.subject, submissions);
  const { answers, took } = await client.send(`polling ${name}`, () => ({ paths: ids.map(client.subject.pathOf) }));
  return {
    polls: answers.answers,
    poll_per_s: answers.answers / answers.seconds,
    poll_server_us: (took.server_ms * 1_000) / answers.answers,
    poll_store_us: (took.store_ms * 1_000) / answers.answers,
  };
}

/** Asks seldom: what asks costs the store. */
async function allEnded(subject: Subject): Promise<void> {
  const ask = async () => {
    await delay(LIMITS.drain_poll_ms);
    return subject.idle();
  };
  await eventually('all that was accepted has ended', ask, (idle) => idle, { ms: LIMITS.drained_ms });
}

/** The ids of some operations, submitted one after the other. */
async function submittedIds({ url, authorization }: Subject, { paths, body }: Submissions): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < LIMITS.polled_operations) {
    const number = ids.length;
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': `polled-${number}` };
    const path = paths[number % paths.length] ?? '/';
    const answer = await request(url + path, { method: 'POST', headers, body: body.replaceAll('NUMBER', `${number}`) });
    ids.push(assertSubmitted(await answer.body.json()).id);
  }
  return ids;
}
