import type { ActorSystem } from '../../actors/system.js';
import { Deadline } from '../../storage/deadline.js';

/**
 * The same system, but that a submission is answered within `limit_ms`: past it as failed. Then nothing is promised of it, and
 * its client sends it again with its key.
 */
export function withPromptSubmissions(system: ActorSystem, limit_ms: number): ActorSystem {
  return {
    log: system.log,
    submit: (submission) =>
      Deadline.within(limit_ms, system.submit(submission)).catch(() => ({ kind: 'failed' }) as const),
    hint: (hint) => system.hint(hint),
    awaitable: (operationId, timeout_ms) => system.awaitable(operationId, timeout_ms),
    status: () => system.status(),
  };
}
