import typia from 'typia';
import { pingDatabase } from '../../storage/postgres/liveness.js';
import { type Answer, json } from '../http/answer.js';
import { LIMITS } from '../http/limits.js';
import { type Route, route, type Services } from '../http/route.js';

/** What a balancer is told. */
export interface ServiceHealthJson {
  status: 'ok';
}
export interface ServiceUnavailableJson {
  status: 'unavailable';
}

const unavailable = json(503, { status: 'unavailable' } satisfies ServiceUnavailableJson);

async function healthz({ drain, system, db }: Services): Promise<Answer> {
  if (drain.draining || system.status().state !== 'running') return unavailable;
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, LIMITS.health_database_ms, 'late').unref());
  const database = pingDatabase(db).then(
    () => 'answers' as const,
    () => 'fails' as const,
  );
  return (await Promise.race([database, late])) === 'answers'
    ? json(200, { status: 'ok' } satisfies ServiceHealthJson)
    : unavailable;
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
