import type { DownloadFile } from '../../browser-pool/contract/sending.js';
import type { SimulatedAnswer } from './request.js';
import { seedOf } from './seeded-random.js';

/** Files of the simulated network: every address holds one, always the same. */

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

export const downloadFile: SimulatedAnswer<DownloadFile> = ({ input }) => {
  const { pathname } = new URL(input.url);
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
