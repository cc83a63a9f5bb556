import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import typia from 'typia';
import { SOURCES } from './install.js';

/** What is sent: GETs, or with a body POSTs, each with an idempotency key of its own. */
export interface Requests {
  url: string;
  authorization: string;
  /** Taken in turn. */
  paths: string[];
  post?: { body: string; run: string };
  seconds: number;
  connections: number;
}

/** Of the answers in time; those that come after the end are in no figure. */
export interface Answers {
  answers: number;
  seconds: number;
  p50_ms: number;
  p99_ms: number;
  /** Answers from 400 on. */
  refused: number;
  /** Requests without an answer: the connection failed, or ten seconds passed. */
  broken: number;
}

/** Sends requests with `wrk`, each connection the next one when it was answered. `folder` takes the list of paths. */
export async function sendRequests(folder: string, requests: Requests): Promise<Answers> {
  const { url, authorization, paths, post, seconds, connections } = requests;
  const list = join(folder, 'paths');
  await writeFile(list, paths.map((path) => `${path}\n`).join(''));
  const script = join(SOURCES, 'requests.lua');
  const args = ['-t', '1', '-c', `${connections}`, '-d', `${seconds}s`, '--timeout', '10s', '-s', script, url];
  const { PATH = '' } = process.env;
  const env = { PATH, PATHS: list, AUTHORIZATION: authorization, ...(post && { BODY: post.body, RUN: post.run }) };
  const { stdout } = await promisify(execFile)('wrk', args, { env });
  return typia.json.assertParse<Answers>(stdout.trim().split('\n').at(-1) ?? '');
}
