import createClient from 'openapi-fetch';

/**
 * A client as a customer writes it: typed by what `openapi-typescript` makes of the service's reference, run by
 * `openapi-fetch`. The test copies it beside the generated types, type-checks it there and runs it.
 *
 * @import { components, paths } from './api.js'
 * @typedef {import('openapi-fetch').Client<paths>} Api
 * @typedef {components['schemas']['OperationInput']} OperationInput
 */

/**
 * @param {{ url: string, key: string, fetch: (request: Request) => Promise<Response> }} service
 * @returns {Api}
 */
export function connect({ url, key, fetch }) {
  return createClient({ baseUrl: url, headers: { Authorization: `Bearer ${key}` }, fetch });
}

/**
 * Two simulated people: one writes to the other, whose receiver is told.
 *
 * @param {Api} api
 * @param {{ callbackUrl: string, secret: string, delivered: () => Promise<unknown> }} receiver
 */
export async function mainStory(api, receiver) {
  const ada = await createPerson(api, 'ada');
  const grace = await createPerson(api, 'grace');
  const again = await api.POST('/v1/connections', { body: person('ada') });
  const conflict = again.error && again.response.status === 409 ? again.error : undefined;

  const login = await run(api, ada.id, { capability: 'social.login', input: { reconnect: true } });
  const search = await run(api, ada.id, {
    capability: 'social.people.search',
    input: { keywords: 'engineer', filters: { network: 'F' }, count: 5 },
  });
  const found =
    search.status === 'succeeded' && search.capability === 'social.people.search' ? search.result.people : [];
  const people = found.map(({ hash_id, headline }) => ({ hash_id, headline }));
  const refused = await run(api, ada.id, {
    capability: 'social.company.get',
    input: { company_name: 'sim-upstream-502' },
  });
  const failure = refused.status === 'failed' ? refused : undefined;

  const subscribed = await api.POST('/v1/connections/{connection_id}/subscriptions', {
    params: { path: { connection_id: grace.id } },
    body: { event_types: ['message_received'], callback_url: receiver.callbackUrl, secret: receiver.secret },
  });
  const subscription = must(subscribed);

  /** @type {OperationInput} */
  const message = { capability: 'social.message.send', input: { recipient_actor_id: 'grace', body: 'Hello Grace' } };
  const sent = await run(api, ada.id, message, 'one');
  await receiver.delivered();
  const replayed = await submit(api, ada.id, message, 'one');
  const lost = await run(api, ada.id, {
    capability: 'social.message.send',
    input: { recipient_actor_id: 'grace', body: 'sim-unknown' },
  });
  const skipped = await run(api, ada.id, {
    capability: 'social.invitation.send',
    input: { recipient_actor_id: 'grace', message: 'sim-skip-invitation_pending' },
  });
  const dryRun = await api.POST('/v1/connections/{connection_id}/operations', {
    params: { path: { connection_id: ada.id }, header: { 'Idempotency-Key': 'dry', Prefer: 'dry-run' } },
    body: message,
  });
  const checked = must(dryRun);

  const events = await api.GET('/v1/connections/{connection_id}/events', {
    params: { path: { connection_id: grace.id }, query: { offset: 0 } },
  });
  const [event] = must(events).events;
  if (!event) throw new Error('no event');
  const detail = await api.GET('/v1/events/{event_id}', { params: { path: { event_id: event.id } } });
  const delivery = await firstDelivered(api, subscription.id);
  await api.GET('/v1/deliveries/{delivery_id}', { params: { path: { delivery_id: delivery.id } } });
  const notFailed = await api.POST('/v1/deliveries/{delivery_id}/replay', {
    params: { path: { delivery_id: delivery.id } },
  });
  await api.GET('/v1/subscriptions/{subscription_id}', {
    params: { path: { subscription_id: subscription.id } },
  });
  await api.GET('/v1/connections/{connection_id}/listener', { params: { path: { connection_id: grace.id } } });
  const list = await api.GET('/v1/operations', { params: { query: { connection_id: ada.id, limit: 2 } } });
  const invited = await api.POST('/v1/accounts/{account_id}/linkedin/invite', {
    params: { path: { account_id: ada.id } },
    body: { hash_id: 'grace', message: 'Shall we connect?' },
  });
  const wrong = await api.POST('/v1/connections/{connection_id}/operations', {
    params: { path: { connection_id: ada.id }, header: { 'Idempotency-Key': 'wrong' } },
    body: { capability: 'social.hash_ids.resolve', input: { public_ids: [] } },
  });
  const deleted = await api.DELETE('/v1/connections/{connection_id}', {
    params: { path: { connection_id: grace.id } },
  });
  const gone = await api.GET('/v1/connections/{connection_id}', { params: { path: { connection_id: grace.id } } });
  return {
    conflict: conflict?.code,
    login: login.status,
    people,
    failed: failure && { code: failure.error_code, status: failure.error_details.upstream_status },
    sent: { id: sent.id, status: sent.status },
    unknown: lost.status === 'outcome_unknown' ? lost.evidence.request.sent : undefined,
    skipped: skipped.status === 'skipped' ? skipped.result.reason : undefined,
    valid: 'valid' in checked ? checked.valid : undefined,
    replayed: { id: replayed.operation.id, mark: replayed.response.headers.get('Idempotency-Replayed') },
    event: textOf(must(detail)),
    delivery: delivery.attempt_count,
    notFailed: notFailed.error?.code,
    nextCursor: must(list).next_cursor,
    invited: invited.response.status,
    wrong: wrong.error && 'errors' in wrong.error ? wrong.error.errors?.[0]?.path : undefined,
    deleted: deleted.response.status,
    gone: gone.error?.code,
  };
}

/**
 * A login that asks for a code.
 *
 * @param {Api} api
 */
export async function challengeStory(api) {
  const person = await createPerson(api, 'ada sim-challenge-sms');
  const waiting = await run(api, person.id, { capability: 'social.login', input: { reconnect: true } });
  if (waiting.status !== 'waiting_user') throw new Error(`no challenge: ${waiting.status}`);
  await api.POST('/v1/operations/{operation_id}/challenge', {
    params: { path: { operation_id: waiting.id } },
    body: { challenge_id: waiting.challenge.id, code: '000000' },
  });
  for (;;) {
    const operation = await settled(api, waiting.id);
    if (operation.status !== 'waiting_user') return { kind: waiting.challenge.kind, status: operation.status };
  }
}

/**
 * What a receiver shows of an event, by its type.
 *
 * @param {import('./api.js').components['schemas']['Event']} event
 */
export function textOf(event) {
  switch (event.type) {
    case 'message_received':
    case 'message_sent':
    case 'sponsored_inmail_received':
      return event.data.message_body;
    case 'custom_connection_request_accepted':
      return event.data.name;
    case 'connection.stream_degraded':
    case 'connection.stream_restored':
      return event.data.reason;
    default:
      return event;
  }
}

/**
 * The receiver has its event a moment before the service knows that it has.
 *
 * @param {Api} api
 * @param {string} subscription_id
 */
async function firstDelivered(api, subscription_id) {
  for (;;) {
    const answer = await api.GET('/v1/subscriptions/{subscription_id}/deliveries', {
      params: { path: { subscription_id }, query: { status: 'delivered' } },
    });
    const [delivery] = must(answer).deliveries;
    if (delivery) return delivery;
  }
}

/**
 * @param {string} id
 * @returns {components['schemas']['NewSimulatedInput']}
 */
function person(id) {
  return { provider: 'simulated', external_actor: { kind: 'person', id } };
}

/**
 * @param {Api} api
 * @param {string} id
 */
async function createPerson(api, id) {
  return must(await api.POST('/v1/connections', { body: person(id) }));
}

/**
 * Submits and waits.
 *
 * @param {Api} api
 * @param {string} connection_id
 * @param {OperationInput} body
 * @param {string} key
 */
async function run(api, connection_id, body, key = String(crypto.randomUUID())) {
  const { operation } = await submit(api, connection_id, body, key);
  return settled(api, operation.id);
}

/**
 * @param {Api} api
 * @param {string} connection_id
 * @param {OperationInput} body
 * @param {string} key
 */
async function submit(api, connection_id, body, key) {
  const answer = await api.POST('/v1/connections/{connection_id}/operations', {
    params: { path: { connection_id }, header: { 'Idempotency-Key': key } },
    body,
  });
  const operation = must(answer);
  if (!('id' in operation)) throw new Error('a dry run');
  return { operation, response: answer.response };
}

/**
 * The operation once it is terminal or waits for the user.
 *
 * @param {Api} api
 * @param {string} operation_id
 */
async function settled(api, operation_id) {
  for (;;) {
    const answer = await api.GET('/v1/operations/{operation_id}', {
      params: { path: { operation_id }, header: { Prefer: 'wait=30' } },
    });
    const operation = must(answer);
    if (operation.status !== 'queued' && operation.status !== 'running') return operation;
  }
}

/**
 * @template T
 * @param {{ data?: T, error?: unknown, response: Response }} answer
 * @returns {NonNullable<T>}
 */
function must({ data, error, response }) {
  if (data === undefined || data === null) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data;
}
