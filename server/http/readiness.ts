import type { ActorSystem, NodeNeed } from '../../actors/system.js';
import type { Sql } from '../../storage/postgres/database.js';
import { pingDatabase } from '../../storage/postgres/liveness.js';
import { Deadline } from '../../storage/process/deadline.js';
import type { Drain } from './drain.js';
import { LIMITS } from './limits.js';

/**
 * Why a node is not to get requests: `starting`, it has not started yet; `draining`, it is being shut down; `failed`, its threads keep
 * ending; `database`, its database does not answer; `leases`, those of its partitions were not renewed in time; `actor_threads`,
 * `browser_threads`, some of them do not run.
 */
export type UnreadyReason = 'starting' | 'draining' | 'failed' | 'database' | NodeNeed;

/** What readiness follows from. */
export interface ReadinessParts {
  drain: Drain;
  system: Pick<ActorSystem, 'status'>;
  control: Sql;
}

/** Everything that keeps this node from taking and executing work now; nothing: it is ready (HTTP-14). */
export async function unreadyReasons({ drain, system, control }: ReadinessParts): Promise<UnreadyReason[]> {
  const { state, lacks } = system.status();
  if (drain.draining) return ['draining'];
  if (state !== 'running') return [state];
  return (await databaseAnswers(control)) ? lacks : ['database', ...lacks];
}

/**
 * Whether the database answers within LIMITS.health_database_ms; at once while it is known to be away. Probes that come while one is asking share its
 * answer: strangers may send any number of them, and leases are renewed on the same few connections.
 */
export function databaseAnswers(control: Sql): Promise<boolean> {
  const asked = asking.get(control) ?? ask(control).finally(() => asking.delete(control));
  asking.set(control, asked);
  return asked;
}

const asking = new WeakMap<Sql, Promise<boolean>>();

function ask(control: Sql): Promise<boolean> {
  return Deadline.within(LIMITS.health_database_ms, pingDatabase(control)).then(
    () => true,
    () => false,
  );
}
