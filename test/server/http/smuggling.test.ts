import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { insertSimulated } from '../../fixture/rows.js';
import { type EdgeUnderTest, startTestEdge } from '../edge-fixture.js';

/** All that comes back until the connection is closed, which it has to be. */
async function exchanged(edge: EdgeUnderTest, bytes: string): Promise<string> {
  const socket = connect(edge.edge.port, '127.0.0.1');
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'connect');
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

const post = (edge: EdgeUnderTest, headers: string[], rest: string) =>
  ['POST /v1/connections HTTP/1.1', 'Host: x', `Authorization: Bearer ${edge.key}`, ...headers, '', rest].join('\r\n');

t.test('a request that two readers could end in two places is refused, and what follows it is not run', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const smuggled = `DELETE /v1/connections/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\n\r\n`;
  const length = `Content-Length: ${smuggled.length + 5}`;
  const chunked = 'Transfer-Encoding: chunked';
  const shapes: [what: string, headers: string[]][] = [
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
  for (const [what, headers] of shapes) {
    const said = await exchanged(edge, post(edge, headers, `0\r\n\r\n${smuggled}`));
    // Closed without an answer where more came in one piece with it.
    t.match(said, /^(HTTP\/1\.1 400 |$)/, what);
    t.ok((said.match(/^HTTP\/1\.1 /gm)?.length ?? 0) <= 1, `${what}: nothing else is answered`);
    if (what.includes('hosts')) t.match(await exchanged(edge, post(edge, headers, '12345')), /^HTTP\/1\.1 400 /, what);
  }
  t.equal((await edge.call('GET', `/v1/connections/${id}`)).status, 200, 'nothing was run');
});

t.test('nothing is run after a request in chunks, not even what looks like its trailers', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const smuggled = `DELETE /v1/connections/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\n\r\n`;
  for (const rest of [`0\r\n\r\n${smuggled}`, `0\r\n${smuggled}`, `2\r\n{}\r\n0\r\n\r\n${smuggled}`]) {
    const said = await exchanged(edge, post(edge, ['Transfer-Encoding: chunked'], rest));
    t.ok((said.match(/HTTP\/1\.1 /g)?.length ?? 0) <= 1, 'at most its own answer');
  }
  const said = await exchanged(edge, post(edge, ['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'));
  t.match(said, /^HTTP\/1\.1 400 [\s\S]*Connection: close/i);
  t.equal((await edge.call('GET', `/v1/connections/${id}`)).status, 200, 'nothing was run');
  const gone = await exchanged(edge, smuggled.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'));
  t.match(gone, /^HTTP\/1\.1 204 /);
});
