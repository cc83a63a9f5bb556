import type { DownloadFile } from '../../browser-pool/contract/sending.js';
import { readSentFile } from '../../storage/operations/simulated-files.js';
import type { SimulatedAnswer } from './request.js';
import { seedOf } from './seeded-random.js';

/** Files of the simulated network: what its messages carry, and at any other address one that is always the same. */

const MEDIA_TYPES = new Map([
  ['csv', 'text/csv'],
  ['gif', 'image/gif'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['json', 'application/json'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['txt', 'text/plain'],
]);

/** Where the file of this message stands. */
export const attachmentUrl = (operationId: string, filename: string): string =>
  `https://files.social.test/attachments/${operationId}/${encodeURIComponent(filename)}`;

const ATTACHMENT = /^\/attachments\/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\//;

export const downloadFile: SimulatedAnswer<DownloadFile> = async ({ input, connection, store }) => {
  const { pathname } = new URL(input.url);
  const operationId = ATTACHMENT.exec(pathname)?.[1];
  const sent = operationId && (await readSentFile(store.db, connection.workspace_id, operationId));
  if (sent && attachmentUrl(operationId, sent.filename) === input.url) {
    const { content_type, data_base64 } = sent;
    return { result: { content_type, data_base64, size: Buffer.byteLength(data_base64, 'base64') } };
  }
  const extension = /\.([a-z0-9]+)$/i.exec(pathname)?.[1]?.toLowerCase() ?? '';
  const bytes = Buffer.from(`Simulated file ${seedOf(input.url).toString(16).padStart(8, '0')}: ${pathname}\n`);
  return {
    result: {
      content_type: MEDIA_TYPES.get(extension) ?? 'application/octet-stream',
      data_base64: bytes.toString('base64'),
      size: bytes.length,
    },
  };
};
