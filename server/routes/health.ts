import { pingDatabase } from '../../storage/liveness.js';
import { type Answer, json } from '../http/answer.js';
import { HEALTH_DATABASE_ms } from '../http/limits.js';
import { type Route, route, type Services } from '../http/route.js';

const unavailable = json(503, { status: 'unavailable' });

async function healthz({ drain, system, db }: Services): Promise<Answer> {
  if (drain.draining || system.status().state !== 'running') return unavailable;
  const late = new Promise<'late'>((resolve) => setTimeout(resolve, HEALTH_DATABASE_ms, 'late').unref());
  const database = pingDatabase(db).then(
    () => 'answers' as const,
    () => 'fails' as const,
  );
  return (await Promise.race([database, late])) === 'answers' ? json(200, { status: 'ok' }) : unavailable;
}

/** Service and database only, never a provider session (spec: "Service"). */
export const healthRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the service and its database answer',
    scopes: 'none',
    body: { kind: 'ignored' },
    handle: healthz,
  }),
];
