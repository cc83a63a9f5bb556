import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { unexpectedAnswer } from '../../failures.js';

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: Record<string, Decode> = {
  gzip: promisify(zlib.gunzip) as Decode,
  deflate: promisify(zlib.inflate) as Decode,
  br: promisify(zlib.brotliDecompress) as Decode,
};

/** The encodings of answers that can be read; a browser's own requests accept the same. */
export const READABLE_ENCODINGS = Object.keys(DECODERS).join(', ');

/**
 * The text of an answer's body. Throws `parsing_error` for one that is longer than `limit_bytes`, as it comes or decoded, of which no more
 * is held than that, and for one that cannot be decoded.
 */
export async function answerText(
  body: AsyncIterable<Buffer>,
  encoding: string | undefined,
  limit_bytes: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit_bytes) throw unexpectedAnswer('answer');
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const decode = DECODERS[encoding ?? ''];
  if (!decode) return bytes.toString('utf8');
  const decoded = await decode(bytes, { maxOutputLength: limit_bytes }).catch(() => {
    throw unexpectedAnswer('answer');
  });
  return decoded.toString('utf8');
}
