import type { DocumentedExchanges } from '../../server/openapi/documented-exchanges.js';

/** `fetch`, with every exchange held against the reference. */
export function documentedFetch(exchanges: DocumentedExchanges) {
  return async (request: Request): Promise<Response> => {
    const { method, url, headers } = request;
    const { pathname, search } = new URL(url);
    const sent = { headers: Object.fromEntries(headers), text: await request.clone().text() };
    const response = await fetch(request);
    exchanges.hold({
      ...{ method, path: pathname + search, sent, status: response.status },
      headers: Object.fromEntries(response.headers),
      text: await response.clone().text(),
    });
    return response;
  };
}
