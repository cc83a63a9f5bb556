/**
 * Requests of which two readers may find different ends: those of the public lists of request smuggling. Behind each comes a second
 * request (`hidden`), which is a part of the first one, its trailers, or a request of its own, depending on who reads it.
 */
export interface Shape {
  what: string;
  /** All that is sent before the request which ends the connection. */
  bytes: string;
}

/** The texts that a shape is made of. */
export interface ShapeParts {
  /** The first request up to its headers of length, each line with its end. */
  head: string;
  /** A whole request without a body. */
  hidden: string;
}

/** Headers that make the end uncertain, each with `rest` behind it: `0\r\n\r\n` and the hidden request. */
export function refusedHeaders(rest: string): [what: string, headers: string[]][] {
  const length = `Content-Length: ${rest.length}`;
  const chunked = 'Transfer-Encoding: chunked';
  return [
    ['two lengths that differ', ['Content-Length: 5', length]],
    ['two lengths that agree', ['Content-Length: 5', 'Content-Length: 5']],
    ['a length and none', ['Content-Length: 5', 'Content-Length: ']],
    ['an empty length', ['Content-Length: ']],
    ['a list of lengths', ['Content-Length: 5, 5']],
    ['a signed length', ['Content-Length: +5']],
    ['a length and chunks', [length, chunked]],
    ['chunks and a length', [chunked, length]],
    ['an unknown coding', ['Transfer-Encoding: xchunked']],
    ['two codings in one', ['Transfer-Encoding: gzip, chunked']],
    ['chunked twice in one', ['Transfer-Encoding: chunked, chunked']],
    ['two codings', [chunked, 'Transfer-Encoding: identity']],
    ['two codings, the other way', ['Transfer-Encoding: identity', chunked]],
    ['no coding', ['Transfer-Encoding: ']],
    ['the coding of old', ['Transfer-Encoding: identity']],
    ['a quoted coding', ['Transfer-Encoding: "chunked"']],
    ['a coding with a parameter', ['Transfer-Encoding: chunked;a=b']],
    ['two hosts', ['Host: y', 'Content-Length: 5']],
  ];
}

/** Further headers, which one reader or another passes over, mends or takes for those above. */
function unusualHeaders(rest: string): [what: string, headers: string[]][] {
  const length = `Content-Length: ${rest.length}`;
  const short = 'Content-Length: 5';
  const coding = (line: string): string[] => [length, line];
  return [
    ['a space before the colon', coding('Transfer-Encoding : chunked')],
    ['a tab before the colon', coding('Transfer-Encoding\t: chunked')],
    ['a tab after the colon', coding('Transfer-Encoding:\tchunked')],
    ['no space after the colon', coding('Transfer-Encoding:chunked')],
    ['a vertical tab before the value', coding('Transfer-Encoding: \vchunked')],
    ['a form feed before the value', coding('Transfer-Encoding: \fchunked')],
    ['a vertical tab behind the value', coding('Transfer-Encoding: chunked\v')],
    ['a null behind the value', coding('Transfer-Encoding: chunked\0')],
    ['a null in the name', coding('Transfer-Encoding\0: chunked')],
    ['a byte of its own behind the value', coding('Transfer-Encoding: chunked\xff')],
    ['a no-break space before the value', coding('Transfer-Encoding: \xa0chunked')],
    ['a space before the name', coding(' Transfer-Encoding: chunked')],
    ['a tab before the name', coding('\tTransfer-Encoding: chunked')],
    ['a value on a line of its own', coding('Transfer-Encoding:\r\n chunked')],
    ['a value on a line of its own, by a tab', coding('Transfer-Encoding:\r\n\tchunked')],
    ['a line feed in the name', coding('Transfer-Encoding\n: chunked')],
    ['a bare line feed before it', coding('X: x\nTransfer-Encoding: chunked')],
    ['a bare carriage return before it', coding('X: x\rTransfer-Encoding: chunked')],
    ['a carriage return behind the value', coding('Transfer-Encoding: chunked\r')],
    ['underlines for hyphens', coding('Transfer_Encoding: chunked')],
    ['capital letters', coding('TRANSFER-ENCODING: CHUNKED')],
    ['a comma behind it', coding('Transfer-Encoding: chunked,')],
    ['a comma before it', coding('Transfer-Encoding: ,chunked')],
    ['an unknown coding behind it', coding('Transfer-Encoding: chunked, cow')],
    ['a quality', coding('Transfer-Encoding: chunked;q=0.5')],
    ['in single quotes', coding("Transfer-Encoding: 'chunked'")],
    ['the name as a part of another', coding('X-Transfer-Encoding: chunked')],
    ['a line without a colon', coding('Transfer-Encoding chunked')],
    ['a header without a name', coding(': chunked')],
    ['a header without a name before the length', [': x', length]],
    ['a header without a name before the coding', [': x', 'Transfer-Encoding: chunked']],
    ['a header without a name between two lengths', [short, ': x', length]],
    ['named in Connection', ['Connection: keep-alive, Transfer-Encoding', length, 'Transfer-Encoding: chunked']],
    ['the length named in Connection', ['Connection: keep-alive, Content-Length', length]],
    ['the key named in Connection', ['Connection: keep-alive, Authorization', short]],
    ['a hexadecimal length', ['Content-Length: 0x5']],
    ['an octal length', ['Content-Length: 05']],
    ['a length with a fraction', ['Content-Length: 5.0']],
    ['a length with an exponent', ['Content-Length: 5e0']],
    ['a negative length', ['Content-Length: -5']],
    ['a length in two parts', ['Content-Length: 5 5']],
    ['a length past 64 bits', ['Content-Length: 18446744073709551621']],
    ['a length past 32 bits', ['Content-Length: 4294967301']],
    ['a length with a null', ['Content-Length: 5\0']],
    ['a length with a space before its colon', ['Content-Length : 5', length]],
    ['a length on a line of its own', ['Content-Length:\r\n 5']],
    ['a length behind a bare line feed', ['X: x\nContent-Length: 5']],
    ['a length behind a bare carriage return', ['X: x\rContent-Length: 5']],
    ['underlines in the length', ['Content_Length: 5', length]],
    ['no length at all', []],
    ['the body asked for first', ['Expect: 100-continue', short]],
    ['the body asked for first, of unknown kind', ['Expect: 200-ok', short]],
    ['the body asked for first, whole', ['Expect: 100-continue', length]],
    [
      'another protocol',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__', short],
    ],
    [
      'a socket',
      ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: eA==', short],
    ],
    ['trailers announced', ['Trailer: Content-Length', 'TE: trailers', short]],
  ];
}

/** Bodies in chunks, whose ends are read in more than one way. */
function chunkedBodies(hidden: string): [what: string, body: string][] {
  const size = hidden.length.toString(16);
  return [
    ['chunks as they should be', `2\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['the hidden request as trailers', `0\r\n${hidden}`],
    ['the hidden request behind a trailer', `0\r\nX: y\r\n${hidden}`],
    ['a trailer', `2\r\n{}\r\n0\r\nX: y\r\n\r\n${hidden}`],
    ['a length as a trailer', `2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n${hidden}`],
    ['a coding as a trailer', `2\r\n{}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n${hidden}`],
    ['an extension', `2;a=b\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['an extension with a line feed', `2;a\n{}\r\n0\r\n\r\n${hidden}`],
    ['an extension with a chunk in it', `2;\n{}\r\n${size}\r\n${hidden}\r\n0\r\n\r\n`],
    ['a quoted extension with a line in it', `2;a="\r\n{}\r\n"\r\n0\r\n\r\n${hidden}`],
    ['an extension of the last chunk', `2\r\n{}\r\n0;a=b\r\n\r\n${hidden}`],
    ['bare line feeds', `2\n{}\n0\n\n${hidden}`],
    ['a bare line feed behind a size', `2\n{}\r\n0\r\n\r\n${hidden}`],
    ['a bare line feed behind a chunk', `2\r\n{}\n0\r\n\r\n${hidden}`],
    ['a bare carriage return behind a size', `2\r{}\r\n0\r\n\r\n${hidden}`],
    ['nothing behind a chunk', `2\r\n{}0\r\n\r\n${hidden}`],
    ['two bytes of another kind behind a chunk', `2\r\n{}XX0\r\n\r\n${hidden}`],
    ['a chunk longer than its size', `2\r\n{   }\r\n0\r\n\r\n${hidden}`],
    ['a signed size', `+2\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a negative size', `-2\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a prefixed size', `0x2\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a size with zeros before it', `0000000000000002\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a size with a space behind it', `2 \r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a size with a space before it', ` 2\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a size with an underline', `0_2\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a size past 64 bits', `10000000000000002\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a size past 32 bits', `100000002\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['no size', `\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['many zeros at the end', `2\r\n{}\r\n000\r\n\r\n${hidden}`],
    ['the hidden request in a chunk', `${size}\r\n${hidden}\r\n0\r\n\r\n`],
  ];
}

/** Other lines than the usual ones. `head` is that of a POST. */
function unusualHeads({ head, hidden }: ShapeParts): Shape[] {
  const as = (line: string) => head.replace(/^[^\r]*/, line);
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
  const path = '/v1/connections';
  return [
    { what: 'an empty line before it', bytes: `\r\n\r\n${head}Content-Length: 2\r\n\r\n{}${hidden}` },
    {
      what: 'HTTP/1.0 and chunks',
      bytes: `${as(`POST ${path} HTTP/1.0`)}Connection: keep-alive\r\n${chunked}${hidden}`,
    },
    { what: 'HTTP/1.0 and a length', bytes: `${as(`POST ${path} HTTP/1.0`)}Content-Length: 2\r\n\r\n{}${hidden}` },
    { what: 'HTTP/1.2', bytes: `${as(`POST ${path} HTTP/1.2`)}Content-Length: 2\r\n\r\n{}${hidden}` },
    { what: 'HTTP/0.9', bytes: `GET ${path}\r\n\r\n${hidden}` },
    { what: 'a version of its own', bytes: `${as(`POST ${path} HTTP/1.1x`)}Content-Length: 2\r\n\r\n{}${hidden}` },
    { what: 'a whole address', bytes: `${as(`POST http://y${path} HTTP/1.1`)}Content-Length: 2\r\n\r\n{}${hidden}` },
    { what: 'two spaces', bytes: `${as(`POST  ${path} HTTP/1.1`)}Content-Length: 2\r\n\r\n{}${hidden}` },
    { what: 'a tab for a space', bytes: `${as(`POST\t${path} HTTP/1.1`)}Content-Length: 2\r\n\r\n{}${hidden}` },
    {
      what: 'a space in the path',
      bytes: `${as(`POST ${path} HTTP/1.1 HTTP/1.1`)}Content-Length: 2\r\n\r\n{}${hidden}`,
    },
    { what: 'a fragment', bytes: `${as(`POST ${path}# HTTP/1.1`)}Content-Length: 2\r\n\r\n{}${hidden}` },
    {
      what: 'a line feed in the path',
      bytes: `${as(`POST ${path}%0d%0aX:%20y HTTP/1.1`)}Content-Length: 2\r\n\r\n{}${hidden}`,
    },
    {
      what: 'GET with a body',
      bytes: `${as(`GET ${path} HTTP/1.1`)}Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    },
    {
      what: 'HEAD with a body',
      bytes: `${as(`HEAD ${path} HTTP/1.1`)}Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    },
    { what: 'GET in chunks', bytes: `${as(`GET ${path} HTTP/1.1`)}${chunked}${hidden}` },
    {
      what: 'DELETE with a body',
      bytes: `${as('DELETE /v1/none HTTP/1.1')}Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    },
    {
      what: 'OPTIONS with a body',
      bytes: `${as('OPTIONS * HTTP/1.1')}Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    },
    { what: 'TRACE', bytes: `${as(`TRACE ${path} HTTP/1.1`)}\r\n${hidden}` },
    { what: 'CONNECT', bytes: `${as('CONNECT x:443 HTTP/1.1')}\r\n${hidden}` },
    { what: 'a method in small letters', bytes: `${as(`post ${path} HTTP/1.1`)}Content-Length: 2\r\n\r\n{}${hidden}` },
    { what: 'the preface of HTTP/2', bytes: `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}` },
    {
      what: 'bare line feeds for all',
      bytes: `${head}Content-Length: 2\r\n\r\n`.replaceAll('\r', '').concat('{}', hidden),
    },
    { what: 'a bare line feed at the end', bytes: `${head}Content-Length: 2\r\n\n{}${hidden}` },
    {
      what: 'bare carriage returns for all',
      bytes: `${head}Content-Length: 2\r\n\r\n`.replaceAll('\n', '').concat('{}', hidden),
    },
    { what: 'another request behind it', bytes: `${head}Content-Length: 2\r\n\r\n{}${hidden}` },
  ];
}

/** All of them. */
export function shapes(parts: ShapeParts): Shape[] {
  const rest = `0\r\n\r\n${parts.hidden}`;
  const withHeaders = [...refusedHeaders(rest), ...unusualHeaders(rest)].map(([what, headers]) => ({
    what,
    bytes: `${parts.head}${headers.map((line) => `${line}\r\n`).join('')}\r\n${rest}`,
  }));
  const inChunks = chunkedBodies(parts.hidden).map(([what, body]) => ({
    what,
    bytes: `${parts.head}Transfer-Encoding: chunked\r\n\r\n${body}`,
  }));
  return [...withHeaders, ...inChunks, ...unusualHeads(parts)];
}
