import t from 'tap';
import { messageSend } from '../../../actors/capabilities/sending.js';
import { buildDocument } from '../../../server/openapi/document.js';
import { queued } from '../../../server/openapi/examples/operations.js';
import { CONNECTION, IDEMPOTENCY_KEY, OPERATION, REQUEST } from '../../../server/openapi/examples/values.js';
import { routes } from '../../../server/table.js';
import { DocumentedExchanges, type Exchange, readReference } from './documented-exchanges.js';
import type { Document } from './openapi-schemas.js';

/** What holds the exchanges of other tests against the reference has to see each way in which one can differ from it. */

const accepted = queued(messageSend);
const submission = { capability: messageSend.name, input: messageSend.example.input };
const submit = {
  method: 'POST',
  path: `/v1/connections/${CONNECTION}/operations`,
  sent: {
    headers: {
      authorization: 'Bearer a-key',
      'content-type': 'application/json',
      'idempotency-key': IDEMPOTENCY_KEY,
    } as Record<string, string>,
    text: JSON.stringify(submission),
  },
  status: 202,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': REQUEST,
    location: `/v1/operations/${OPERATION}`,
    'retry-after': '1',
  } as Exchange['headers'],
  text: JSON.stringify(accepted),
} satisfies Exchange;

const answering = (change: object): Exchange => ({ ...submit, text: JSON.stringify({ ...accepted, ...change }) });
const carrying = (change: Exchange['headers']): Exchange => ({ ...submit, headers: { ...submit.headers, ...change } });
const sending = (change: object): Exchange => ({
  ...submit,
  sent: { ...submit.sent, text: JSON.stringify({ ...submission, ...change }) },
});
const { authorization: _key, ...withoutKey } = submit.sent.headers;
const { 'idempotency-key': _idempotency, ...withoutIdempotency } = submit.sent.headers;
const { created_at: _at, ...undated } = accepted;

/** A list of connections, asked for by these words of its query. */
const listing = (query: string): Exchange => ({
  method: 'GET',
  path: `/v1/connections?${query}`,
  sent: { headers: submit.sent.headers, text: '' },
  status: 200,
  headers: { 'content-type': 'application/json', 'x-request-id': REQUEST },
  text: JSON.stringify({ connections: [], next_cursor: null }),
});

const WRONG: Record<string, Exchange> = {
  'a field is missing': { ...submit, text: JSON.stringify(undated) },
  'a field has another type': answering({ cancel_requested: 'no' }),
  'a status is not one of its status': answering({ status: 'sleeping' }),
  'a moment is none': answering({ created_at: 'yesterday' }),
  'it has no body': { ...submit, text: '' },
  'its media type is another': carrying({ 'content-type': 'text/html' }),
  'its status is not documented': { ...submit, status: 201 },
  'a header is missing': carrying({ 'x-request-id': undefined }),
  'a header has another type': carrying({ 'retry-after': 'soon' }),
  'a header is not of this answer': carrying({ etag: '"a-version"' }),
  'its route is not documented': { ...submit, path: '/v1/nothing' },
  'a conflict says more than its code': {
    ...submit,
    status: 409,
    headers: { 'content-type': 'application/json', 'x-request-id': REQUEST },
    text: JSON.stringify({ code: 'idempotency_conflict', message: 'no' }),
  },
  'an unknown field was taken': sending({ surprise: 1 }),
  'an unknown capability was taken': sending({ capability: 'social.surprise' }),
  'no key was asked for': { ...submit, sent: { ...submit.sent, headers: withoutKey } },
  'no body was asked for': { ...submit, sent: { ...submit.sent, text: '' } },
  'a body of another type was taken': {
    ...submit,
    sent: { ...submit.sent, headers: { ...submit.sent.headers, 'content-type': 'text/plain' } },
  },
  'a query that is no number was taken': listing('limit=many'),
  'a number out of its bounds was taken': listing('limit=0'),
  'a word that is not one of its words was taken': listing('health=tired'),
  'a required header was not asked for': { ...submit, sent: { ...submit.sent, headers: withoutIdempotency } },
  'an unknown query was taken': { ...submit, path: `${submit.path}?x=1` },
  'an id that is none was taken': { ...submit, path: '/v1/connections/not-an-id/operations' },
};

t.test('an exchange as documented has no fault, and one that differs in anything has', async (t) => {
  const document = JSON.parse(JSON.stringify(buildDocument(routes, false))) as Document;
  const exchanges = new DocumentedExchanges(readReference(document));
  for (const one of [submit, listing('limit=10&health=ready&search=10')]) exchanges.hold(one);
  t.same(exchanges.faults, []);
  for (const [what, exchange] of Object.entries(WRONG)) {
    const before = exchanges.faults.length;
    exchanges.hold(exchange);
    t.ok(exchanges.faults.length > before, what);
  }
});
