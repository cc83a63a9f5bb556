import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import type { Answer, MadeBody } from './answer.js';
import { LIMITS } from './limits.js';
import { isKnown } from './validator.js';
import type { RequestHeader } from './wire/request-headers.js';

/** What a client is told of how a body is encoded; `identity`: not at all. Those that it takes are tried in this order. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof ENCODINGS)[number];

/**
 * A body that does not change while the service runs. Each encoding of it is made once, beside the thread, at the first request that wants it; all
 * its answers share the bytes, so that one costs its headers, whoever asks and however slowly it is read.
 */
export interface Fixed {
  contentType: string;
  headers: Record<string, string>;
  /** Of its content: the ETag of each encoding begins with it. */
  hash: string;
  encoded(encoding: Encoding): Promise<Buffer>;
}

const ENCODERS: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  identity: async (bytes) => bytes,
  gzip: (bytes) => promisify(gzip)(bytes, { level: zlib.Z_BEST_COMPRESSION }),
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [zlib.BROTLI_PARAM_QUALITY]: LIMITS.brotli_quality,
        [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
};

export function fixed(body: string | Buffer, contentType: string, headers: Record<string, string> = {}): Fixed {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const made = new Map<Encoding, Promise<Buffer>>();
  return {
    contentType,
    // A copy may be kept but must be revalidated: another version of the service has other text.
    headers: { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding', ...headers },
    hash,
    encoded(encoding) {
      const known = made.get(encoding);
      if (known) return known;
      const making = ENCODERS[encoding](bytes);
      made.set(encoding, making);
      return making;
    },
  };
}

/** The body in the best encoding that the client takes, or 304 for a copy of that which is still current (RFC 9110, 12.5.3 and 13.1.2). */
export async function answered(
  { contentType, headers: usual, hash, encoded }: Fixed,
  headers: Readonly<Record<RequestHeader, string>>,
): Promise<Answer> {
  const encoding = bestOf(headers['accept-encoding']);
  const etag = encoding === 'identity' ? `"${hash}"` : `"${hash}-${encoding}"`;
  const told = { ETag: etag, ...usual };
  if (isKnown(etag, headers['if-none-match'])) return { status: 304, body: null, headers: told };
  const body = inPieces(await encoded(encoding));
  if (encoding === 'identity') return { status: 200, body, contentType, headers: told };
  return { status: 200, body, contentType, headers: { ...told, 'Content-Encoding': encoding } };
}

/** A large one goes out a piece a turn of the thread: a socket takes megabytes at once, and others would wait for it. */
function inPieces(bytes: Buffer): Buffer | MadeBody {
  if (bytes.length < LIMITS.streamed_answer_bytes) return bytes;
  return {
    bytes: bytes.length,
    hurried: true,
    pause: () => turn(),
    async *pieces() {
      for (let at = 0; at < bytes.length; at += LIMITS.streamed_answer_bytes)
        yield bytes.subarray(at, at + LIMITS.streamed_answer_bytes);
    },
  };
}

/** The first of ENCODINGS that is named, and not with a weight of zero. */
function bestOf(accepted: string): Encoding {
  const taken = accepted
    .toLowerCase()
    .split(',')
    .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
    .map((one) => one.split(';')[0]?.trim());
  return ENCODINGS.find((encoding) => taken.includes(encoding)) ?? 'identity';
}

/** Made at the first call and kept; what could not be made is tried again by the next one. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** What routes of such texts have in common. */
export const FIXED_ROUTE = {
  method: 'GET',
  scopes: 'none',
  body: { kind: 'ignored' },
  headers: { 'If-None-Match': 'optional' },
} as const;
/** Their answer to who has a copy. */
export const UNCHANGED = { description: 'The copy is still current.', headers: ['ETag'] } as const;
