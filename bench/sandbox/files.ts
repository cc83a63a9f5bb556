import { crc32, deflateSync } from 'node:zlib';
import { fingerprint } from './data/seeded-random.js';
import { type Answer, notFound, redirect } from './http/answer.js';
import type { Route } from './http/exchange.js';
import { LIMITS } from './limits.js';
import type { State } from './state/state.js';

/** The host of pictures, attachments and samples. */
export function fileRoutes(state: State): Route[] {
  const capabilities = ['social.file.download'];
  return [
    {
      method: 'GET',
      path: '/pictures/:name',
      access: 'open',
      capabilities,
      answer: ({ params: [name = ''] }) => {
        const member = state.directory.byHashId(name.replace(/\.png$/, ''));
        if (member === undefined || !member.hasPicture) throw notFound('picture');
        return file('image/png', picture(fingerprint(member.hashId)));
      },
    },
    {
      method: 'GET',
      path: '/attachments/:id/:name',
      access: 'page',
      capabilities,
      answer: ({ params: [id = '', name], viewer }) => {
        const found = state.attachments.read(id, viewer.member.hashId);
        if (found === undefined || found.attachment.name !== name) throw notFound('attachment');
        return file(found.attachment.contentType, found.bytes);
      },
    },
    {
      method: 'GET',
      path: '/samples/:name',
      access: 'page',
      capabilities,
      answer: ({ params: [name = ''] }) => {
        const bytes = Number(/^(\d{1,9})\.bin$/.exec(name)?.[1] ?? Number.NaN);
        if (!(bytes <= LIMITS.sample_bytes)) throw notFound('sample');
        return sample(bytes);
      },
    },
    {
      method: 'GET',
      path: '/moved/::path',
      access: 'open',
      capabilities,
      answer: ({ params: [path = ''] }) => redirect(302, `/${path}`),
    },
    {
      method: 'GET',
      path: '/away',
      access: 'open',
      capabilities,
      answer: () => redirect(302, 'https://www.example.com/'),
    },
  ];
}

function file(contentType: string, body: Buffer): Answer {
  return { status: 200, headers: { 'content-type': contentType, 'content-disposition': 'attachment' }, body };
}

const PERIOD = 251;
const PATTERN = Buffer.from(Array.from({ length: PERIOD * 261 }, (_, place) => place % PERIOD));

/** Byte i is i mod 251; written as fast as it is read, never held in memory as a whole. */
function sample(bytes: number): Answer {
  return {
    stream: (response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
      let left = bytes;
      const write = (): void => {
        while (left > 0 && !response.destroyed) {
          const chunk = PATTERN.subarray(0, Math.min(left, PATTERN.length));
          left -= chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    },
  };
}

/** A PNG of one colour, 8 by 8. */
function picture(colour: number): Buffer {
  const header = Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0]);
  const row = [0, ...Array.from({ length: 8 }, () => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255]).flat()];
  const rows = Buffer.from(Array.from({ length: 8 }, () => row).flat());
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  const framed = Buffer.alloc(content.length + 8);
  framed.writeUInt32BE(data.length, 0);
  content.copy(framed, 4);
  framed.writeUInt32BE(crc32(content), content.length + 4);
  return framed;
}
