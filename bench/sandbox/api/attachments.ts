import { badRequest, json } from '../http/answer.js';
import type { Exchange, Route } from '../http/exchange.js';
import { LIMITS } from '../limits.js';
import { attachmentUrn } from '../state/attachments.js';
import type { State } from '../state/state.js';

/** Uploads. An upload is no write in the ledger's sense: it shows only once a message carries it. */
export function attachmentRoutes(state: State): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/attachments',
      access: 'api',
      capabilities: [],
      answer: (exchange) => {
        exchange.query.only();
        const { body } = exchange;
        const contentType = exchange.request.headers['content-type'] ?? '';
        if (body.length === 0 || body.length > LIMITS.attachment_bytes)
          throw badRequest('The file is empty or too large.');
        if (!/^[\w.+-]+\/[\w.+-]+(;.*)?$/.test(contentType)) throw badRequest('Content-Type is missing.');
        const attachment = state.attachments.store(
          exchange.viewer.member.hashId,
          fileName(exchange),
          contentType,
          body,
        );
        state.commit({ type: 'attachment', attachment });
        const { name, size } = attachment;
        return json({ data: { urn: attachmentUrn(attachment), name, contentType, size } }, 201);
      },
    },
  ];
}

function fileName(exchange: Exchange): string {
  const given = exchange.request.headers['x-file-name'];
  let name = '';
  try {
    name = typeof given === 'string' ? decodeURIComponent(given) : '';
  } catch {
    // Stays empty: refused below.
  }
  if (name.trim() === '' || [...name].length > 255 || /[/\\\p{Cc}]/u.test(name))
    throw badRequest('X-File-Name is not a file name.');
  return name;
}
