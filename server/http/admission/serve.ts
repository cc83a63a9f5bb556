import { type Answer, isMade } from '../answer.js';
import { auditOf } from '../audit.js';
import { parsePrefer } from '../prefer.js';
import type { Route } from '../route.js';
import { type Checks, GATES } from './gates.js';
import type { AdmittedRequest } from './request.js';

/**
 * Leads a request through the gates, has its route handle it and hands the answer to `send`, null when the client went away
 * meanwhile. Throws HttpError for the first gate that refuses it. The request is under way until `send` resolves.
 */
export async function serve(
  request: AdmittedRequest,
  checks: Checks,
  send: (answer: Answer | null) => Promise<void>,
): Promise<void> {
  try {
    for (const gate of GATES) {
      if (!gate.when(request)) continue;
      const wait = gate.take(request, checks);
      if (wait) await wait;
      if (request.gone) return await send(null);
    }
    const answer = await handle(request, request.route as Route);
    request.handled();
    await sendWithin(request, answer, send);
  } finally {
    request.end();
  }
}

/** A large answer takes of the memory of its workspace while it is sent; one of pieces takes a turn for each. */
function sendWithin(
  { share, exchange }: AdmittedRequest,
  answer: Answer,
  send: (answer: Answer) => Promise<void>,
): Promise<void> {
  if (!share) return send(answer);
  const { body } = answer;
  if (!isMade(body)) return share.sending(body?.length ?? 0, () => send(answer));
  const bytes = body.hurried && exchange.method !== 'HEAD' ? (body.bytes ?? 0) : 0;
  return share.sending(bytes, () => send({ ...answer, body: share.made(body) }));
}

function handle(
  { exchange, params, resource, sender, key, context, services, bytes, query, body }: AdmittedRequest,
  route: Route,
): Promise<Answer> {
  const { db, reveals, limits, workspaceStored } = services;
  return route.handle({
    ...services,
    key,
    params,
    sender,
    audit: auditOf(route, { key, sender, requestId: context.requestId, db, reveals, limits, workspaceStored }),
    headers: exchange.headers,
    context,
    prefer: parsePrefer(exchange.headers.prefer),
    resource,
    body,
    query,
    body_bytes: bytes?.length ?? 0,
    gone: () => exchange.gone(),
  });
}
