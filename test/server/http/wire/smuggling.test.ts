import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { insertSimulated } from '../../../fixture/rows.js';
import { sized } from '../../../fixture/size.js';
import { closed } from '../../../fixture/sockets.js';
import { type EdgeUnderTest, startTestEdge } from '../../edge-fixture.js';
import { requestsIn } from './sent-requests.js';
import { refusedHeaders } from './smuggling-shapes.js';
import { marked, markedShapes, startWitness } from './witness.js';

/** For an answer that must not come: to a request that has not ended. */
const QUIET_ms = 300;

/**
 * All that comes back until the connection is closed, which it has to be. What is sent after the first piece goes out once something came
 * back, or does not come.
 */
async function exchanged(edge: EdgeUnderTest, bytes: string, more = ''): Promise<string> {
  const socket = connect(edge.edge.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'connect');
  socket.write(Buffer.from(bytes, 'latin1'));
  const ended = closed(socket);
  if (more) {
    const answered = new Promise((resolve) => socket.once('data', resolve));
    await Promise.race([answered, ended, delay(QUIET_ms)]);
    socket.write(Buffer.from(more, 'latin1'));
  }
  await ended;
  return text;
}

const post = (edge: EdgeUnderTest, headers: string[], rest: string) =>
  ['POST /v1/connections HTTP/1.1', 'Host: x', `Authorization: Bearer ${edge.key}`, ...headers, '', rest].join('\r\n');

t.test('a request that two readers could end in two places is refused, and what follows it is not run', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const smuggled = `DELETE /v1/connections/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${edge.key}\r\n\r\n`;
  const rest = `0\r\n\r\n${smuggled}`;
  for (const [what, headers] of refusedHeaders(rest)) {
    const said = await exchanged(edge, post(edge, headers, rest));
    // Closed without an answer where more came in one piece with it.
    t.match(said, /^(HTTP\/1\.1 400 |$)/, what);
    t.ok((said.match(/^HTTP\/1\.1 /gm)?.length ?? 0) <= 1, `${what}: nothing else is answered`);
    if (what.includes('hosts')) t.match(await exchanged(edge, post(edge, headers, '12345')), /^HTTP\/1\.1 400 /, what);
  }
  t.equal((await edge.call('GET', `/v1/connections/${id}`)).status, 200, 'nothing was run');
});

t.test('a header that may stand once and stands twice is refused, whatever it says', async (t) => {
  const edge = await startTestEdge(t);
  const { id } = await insertSimulated(edge.db, edge.workspaceId, 'ann');
  const body = JSON.stringify({ capability: 'social.profile.get', input: { profile_id: 'bob' } });
  const submit = (...headers: string[]) =>
    exchanged(
      edge,
      [
        `POST /v1/connections/${id}/operations HTTP/1.1`,
        ...['Host: x', `Content-Length: ${body.length}`, 'Connection: close', ...headers, '', body],
      ].join('\r\n'),
    );
  const key = `Authorization: Bearer ${edge.key}`;
  for (const [header, ...lines] of [
    ['idempotency-key', key, 'Idempotency-Key: a', 'Idempotency-Key: b'],
    ['idempotency-key', key, 'Idempotency-Key: a', 'idempotency-key: a'],
    ['idempotency-key', key, 'Idempotency-Key:', 'Idempotency-Key: a'],
    ['authorization', key, `Authorization: Bearer other`, 'Idempotency-Key: a'],
    ['authorization', 'Authorization:', key, 'Idempotency-Key: a'],
    ['content-type', key, 'Idempotency-Key: a', 'Content-Type: application/json', 'Content-Type: text/plain'],
    ['user-agent', key, 'Idempotency-Key: a', 'User-Agent: a', 'User-Agent: b'],
  ]) {
    const said = await submit(...lines);
    t.match(said, /^HTTP\/1\.1 400 /, lines.join());
    t.match(said, `"path":"headers.${header}"`);
  }
  t.equal((await edge.call('GET', '/v1/operations')).json.operations.length, 0, 'nothing is stored');
  for (const lines of [
    ['Prefer: respond-async', 'Prefer: dry-run'],
    ['Prefer: dry-run', 'Prefer: respond-async', 'Prefer: wait=1'],
    ['Prefer:', 'Prefer: dry-run'],
  ]) {
    const said = await submit(key, 'Idempotency-Key: a', ...lines);
    t.match(said, /^HTTP\/1\.1 200 /, lines.join());
  }
  t.equal((await edge.call('GET', '/v1/operations')).json.operations.length, 0, 'each was a dry run');
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

/** The library hides what is behind it, so that it is for the front to refuse it. */
const UNSEEN = /^a header without a name/;

for (const pieces of sized(['two pieces'], ['one piece', 'two pieces'])) {
  t.test(`in ${pieces}, no shape has anything run that its bytes do not make a request of its own`, async (t) => {
    const { edge, ran } = await startWitness(t);
    const all = markedShapes(edge);
    const sent = all.map(({ bytes }) => {
      const cut = pieces === 'one piece' ? bytes.length : bytes.indexOf('DELETE /v1/connections/none');
      return exchanged(edge, bytes.slice(0, cut), bytes.slice(cut));
    });
    await Promise.all(sent);
    const own = marked(all.flatMap(({ bytes }) => requestsIn(bytes).requests));
    const hidden = marked(ran).filter((line) => /hidden|last/.test(line) && !own.includes(line));
    const kinds = hidden.map((line) => all[Number(line.split('-')[1])]?.what ?? '');
    t.same(
      kinds.filter((what) => !UNSEEN.test(what)),
      [],
    );
  });
}
