/** A request as it stands in the bytes that a front has sent. */
export interface SentRequest {
  method: string;
  path: string;
  /** Of its header X-Request-Id. */
  id: string | undefined;
  chunked: boolean;
}

export interface Sent {
  /** Those that were sent whole. */
  requests: SentRequest[];
  /** The last one, where its body was broken off: it may be answered none the less. */
  brokenOff: SentRequest | undefined;
  /** What another reader could take in another way, and where reading ended for it. */
  unclear: string | undefined;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Reads what was sent on one connection by the letter of RFC 9112, taking nothing that it forbids. The last request may have been broken
 * off.
 */
export function requestsIn(bytes: string): Sent {
  const requests: SentRequest[] = [];
  let brokenOff: SentRequest | undefined;
  let at = 0;
  try {
    while (at < bytes.length) {
      const headEnd = bytes.indexOf('\r\n\r\n', at);
      if (headEnd < 0) break;
      const { request, length } = head(bytes.slice(at, headEnd));
      const bodyAt = headEnd + 4;
      brokenOff = request;
      const end = request.chunked ? chunkedEnd(bytes, bodyAt) : bodyAt + length;
      if (end === undefined || end > bytes.length) break;
      requests.push(request);
      brokenOff = undefined;
      at = end;
    }
    return { requests, brokenOff, unclear: undefined };
  } catch (error) {
    return {
      requests,
      brokenOff: undefined,
      unclear: `${(error as Error).message} in ${JSON.stringify(bytes.slice(at, at + 300))}`,
    };
  }
}

function head(text: string): { request: SentRequest; length: number } {
  const [line = '', ...lines] = text.split('\r\n');
  for (const one of [line, ...lines]) if (/[\r\n\0]/.test(one)) throw new Error('a bare end of line');
  const [, method = '', path = ''] = /^(\S+) (\S+) HTTP\/1\.1$/.exec(line) ?? [];
  if (!TOKEN.test(method)) throw new Error(`the line ${JSON.stringify(line)}`);
  const headers = lines.map((one): [string, string] => {
    const colon = one.indexOf(':');
    const name = one.slice(0, colon);
    if (colon < 1 || !TOKEN.test(name)) throw new Error(`the header ${JSON.stringify(one)}`);
    return [name.toLowerCase(), one.slice(colon + 1).trim()];
  });
  const all = (name: string) => headers.filter(([one]) => one === name).map(([, value]) => value);
  const [lengths, codings, hosts] = [all('content-length'), all('transfer-encoding'), all('host')];
  if (hosts.length !== 1 || lengths.length + codings.length > 1) throw new Error('several of a kind');
  if (lengths.some((value) => !/^\d{1,15}$/.test(value))) throw new Error('a length');
  if (codings.some((value) => value.toLowerCase() !== 'chunked')) throw new Error('a coding');
  return {
    request: { method, path, id: all('x-request-id')[0], chunked: codings.length > 0 },
    length: Number(lengths[0] ?? 0),
  };
}

/** Where the body ends, its trailers included; undefined when it was broken off. */
function chunkedEnd(bytes: string, from: number): number | undefined {
  let at = from;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const line = bytes.slice(at, lineEnd);
    if (!/^[0-9A-Fa-f]{1,8}$/.test(line)) throw new Error(`the size ${JSON.stringify(line)}`);
    const size = Number.parseInt(line, 16);
    at = lineEnd + 2;
    if (size === 0) break;
    if (bytes.length < at + size + 2) return undefined;
    if (bytes.slice(at + size, at + size + 2) !== '\r\n') throw new Error('the end of a chunk');
    at += size + 2;
  }
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    if (lineEnd === at) return at + 2;
    throw new Error('a trailer');
  }
}
