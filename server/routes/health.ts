import typia from 'typia';
import { type Answer, json } from '../http/answer.js';
import { databaseAnswers, type UnreadyReason, unreadyReasons } from '../http/readiness.js';
import { type Route, route, type Services } from '../http/route.js';

/** The service works. */
export interface ServiceHealthJson {
  /** Always `ok`. */
  status: 'ok';
}
/** The service does not work. */
export interface ServiceUnavailableJson {
  /** Always `unavailable`. */
  status: 'unavailable';
}

/** What keeps this node from taking and executing work. */
export interface UnreadyJson {
  /** Always `unavailable`. */
  status: 'unavailable';
  /** What it is busy with, or lacks. */
  reasons: UnreadyReason[];
}

const ok = json(200, { status: 'ok' } satisfies ServiceHealthJson);
const unavailable = json(503, { status: 'unavailable' } satisfies ServiceUnavailableJson);

async function healthz({ drain, system, control }: Services): Promise<Answer> {
  if (drain.draining || system.status().state !== 'running') return unavailable;
  return (await databaseAnswers(control)) ? ok : unavailable;
}

async function readyz(services: Services): Promise<Answer> {
  const reasons = await unreadyReasons(services);
  return reasons.length === 0 ? ok : json(503, { status: 'unavailable', reasons } satisfies UnreadyJson);
}

/** Answering shows that the process lives and its event loop turns; a database that is away is no reason to end it. */
async function livez(): Promise<Answer> {
  return ok;
}

const healthSchema = typia.json.schemas<[ServiceHealthJson]>();

/**
 * Service and database only, never a provider session (contract: "Service"). The probes of supervisors, `/livez` and `/readyz`,
 * stand on the port of the metrics as well.
 */
export const healthRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'getHealth',
    path: '/healthz',
    summary: 'Check the service and its database',
    description:
      'Checks the service and its database, never a session at the provider. It needs no key and ignores what it is sent.',
    scopes: 'none',
    probe: 'through the gateway',
    routine: true,
    body: { kind: 'ignored' },
    answers: {
      200: { description: 'Both answer.', schema: healthSchema },
      503: {
        description: 'One does not, or the service is shutting down.',
        schema: typia.json.schemas<[ServiceUnavailableJson]>(),
      },
    },
    handle: healthz,
  }),
  route({
    method: 'GET',
    operationId: 'getReadiness',
    path: '/readyz',
    summary: 'Check whether this node is ready',
    description:
      'For a balancer, which should send requests to this node only while it answers 200. It needs neither a key nor the gateway headers.',
    scopes: 'none',
    probe: 'past the gateway',
    routine: true,
    body: { kind: 'ignored' },
    answers: {
      200: { description: 'It does.', schema: healthSchema },
      503: { description: 'It does not, for these reasons.', schema: typia.json.schemas<[UnreadyJson]>() },
    },
    handle: readyz,
  }),
  route({
    method: 'GET',
    operationId: 'getLiveness',
    path: '/livez',
    summary: 'Check whether this process is alive',
    description:
      'For a supervisor, which should start the process again when it does not answer. It needs neither a key nor the gateway headers.',
    scopes: 'none',
    probe: 'past the gateway',
    routine: true,
    body: { kind: 'ignored' },
    answers: { 200: { description: 'It does.', schema: healthSchema } },
    handle: livez,
  }),
];
