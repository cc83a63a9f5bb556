import typia from 'typia';
import { Deadline } from '../../storage/deadline.js';
import { pingDatabase } from '../../storage/postgres/liveness.js';
import { type Answer, json } from '../http/answer.js';
import { LIMITS } from '../http/limits.js';
import { type Route, route, type Services } from '../http/route.js';

/** The health that a balancer reads. */
export interface ServiceHealthJson {
  status: 'ok';
}
export interface ServiceUnavailableJson {
  status: 'unavailable';
}

const unavailable = json(503, { status: 'unavailable' } satisfies ServiceUnavailableJson);

async function healthz({ drain, system, control }: Services): Promise<Answer> {
  if (drain.draining || system.status().state !== 'running') return unavailable;
  try {
    await Deadline.within(LIMITS.health_database_ms, pingDatabase(control));
    return json(200, { status: 'ok' } satisfies ServiceHealthJson);
  } catch {
    return unavailable;
  }
}

/** Service and database only, never a provider session (contract: "Service"). */
export const healthRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the service and its database answer',
    scopes: 'none',
    body: { kind: 'ignored' },
    answers: {
      200: { description: 'Both answer.', schema: typia.json.schemas<[ServiceHealthJson]>() },
      503: {
        description: 'One does not, or the service is shutting down.',
        schema: typia.json.schemas<[ServiceUnavailableJson]>(),
      },
    },
    handle: healthz,
  }),
];
