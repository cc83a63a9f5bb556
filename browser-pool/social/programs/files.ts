import type { Dispatcher } from 'undici';
import { Deadline } from '../../../storage/process/deadline.js';
import type { DownloadFile, FileDownloadResult } from '../../contract/sending.js';
import { RunFailure, refusal, unexpectedAnswer, upstreamTimeout } from '../../failures.js';
import { LIMITS } from '../../limits.js';
import type { ProgramRun } from '../../program.js';
import { opening } from '../access/opening.js';
import { pageFailure, redirectFailure } from '../access/signed-out.js';
import { SiteRequests, single } from '../access/site-requests.js';
import { isProviderUrl } from '../site/provider-url.js';
import type { Site } from '../site/site.js';
import { defineProgram } from './define.js';

/**
 * Contract: social.file.download. Every hop's address is checked before it is requested (OPS-14), and gets just the
 * session's cookies that a browser would send there. No browser takes part: the bytes are stored as they come, so that a
 * file is never held whole, and only silence ends the wait, not size.
 */
const downloadFile = defineProgram<DownloadFile>('social.file.download', async (run, site) => {
  const requests = new SiteRequests(site, run);
  let address = new URL(run.input.url);
  for (let hop = 0; hop <= LIMITS.file_redirects; hop++) {
    if (!isProviderUrl(site.domains, address)) {
      const reason = hop === 0 ? 'not_an_address_of_the_provider' : 'redirect_outside_provider';
      throw new RunFailure('validation_error', { reason });
    }
    const hopped = await oneHop(run, site, requests, address);
    if (!(hopped instanceof URL)) return { result: hopped };
    address = hopped;
  }
  throw new RunFailure('upstream_error', { reason: 'too_many_redirects', upstream_status: null });
});

/** Reading one of the provider's files. */
export const filePrograms = [downloadFile] as const;

type Run = Pick<ProgramRun, 'request_ms' | 'store'>;

/** Where a redirect leads, or the file. Ended when the headers do not come, or the body falls silent. */
async function oneHop(run: Run, site: Site, requests: SiteRequests, address: URL): Promise<URL | FileInfo> {
  const silence_ms = run.request_ms();
  const headersDue = new Deadline(silence_ms, upstreamTimeout);
  const headers = { accept: '*/*', 'accept-encoding': 'identity' };
  try {
    return await requests.make(address, { headers, silence_ms }, headersDue, async (answer) => {
      headersDue.stop();
      return (await followed(site, address, answer)) ?? (await fileOf(run, site, answer));
    });
  } finally {
    headersDue.stop();
  }
}

/** Where a redirect leads, or null for a file. Throws for refusals and for a session that is over. */
async function followed(site: Site, address: URL, { statusCode, headers, body }: Dispatcher.ResponseData) {
  if (statusCode === 200) return null;
  await body.dump();
  if (statusCode < 300 || statusCode >= 400) {
    throw refusal(statusCode, { retryAfter: single(headers['retry-after']) }) ?? unexpectedAnswer('status');
  }
  const next = URL.parse(single(headers.location) ?? '', address.href);
  if (!next) throw unexpectedAnswer('redirect');
  const away = redirectFailure(site, next, address);
  if (away) throw away;
  return next;
}

type FileInfo = Pick<FileDownloadResult, 'content_type' | 'size'>;

/** A web page that is not handed out as a file is a message of the site, not the file that was requested. */
async function fileOf(run: Run, site: Site, { headers, body }: Dispatcher.ResponseData): Promise<FileInfo> {
  // A file without a type is any bytes (RFC 9110 8.3).
  const content_type = single(headers['content-type']) ?? 'application/octet-stream';
  const offered = single(headers['content-disposition'])?.startsWith('attachment') ?? false;
  const encoded = single(headers['content-encoding']) ?? 'identity'; // any other was not requested: not the file's own bytes
  if (encoded !== 'identity' || (content_type.startsWith('text/html') && !offered)) {
    throw pageFailure(site, await opening(body, LIMITS.page_opening_bytes), false) ?? unexpectedAnswer('file');
  }
  return { content_type, size: await stored(run, body) };
}

/** Has the bytes stored part by part as they come, none before the one before is durable; gives how many there were. */
async function stored(run: Run, body: AsyncIterable<Buffer>): Promise<number> {
  let size = 0;
  let part = new Uint8Array(LIMITS.file_part_bytes);
  let filled = 0;
  for await (const chunk of body) {
    for (let taken = 0; taken < chunk.length; ) {
      const bytes = chunk.subarray(taken, taken + part.length - filled);
      part.set(bytes, filled);
      filled += bytes.length;
      taken += bytes.length;
      if (filled < part.length) continue;
      await run.store(part.buffer);
      part = new Uint8Array(LIMITS.file_part_bytes);
      filled = 0;
    }
    size += chunk.length;
  }
  if (filled > 0) await run.store(part.buffer.slice(0, filled));
  return size;
}
