import type { ActorSystem, SubmitOutcome } from '../../actors/system.js';
import { Deadline, DeadlineExceeded } from '../../storage/deadline.js';
import type { Sql } from '../../storage/postgres/database.js';
import { pingDatabase } from '../../storage/postgres/liveness.js';
import { LIMITS } from './limits.js';

/**
 * The same system, but that no submission waits for a database that is away: one that is not answered in time is answered as
 * failed, unless the database answers `control`, and it is only slow. Of a failed one nothing is promised, and its client sends
 * it again with its key.
 */
export function withPromptSubmissions(system: ActorSystem, control: Sql): ActorSystem {
  const reachable = reachableOnce(control);
  return {
    log: system.log,
    submit: async (submission) => {
      const work = system.submit(submission);
      const startedAt = performance.now();
      let outcome = await within(LIMITS.submission_ms, work);
      while (!outcome) {
        if (performance.now() - startedAt > LIMITS.slow_submission_ms || !(await reachable()))
          return { kind: 'failed' };
        outcome = await within(LIMITS.submission_poll_ms, work);
      }
      return outcome;
    },
    hint: (hint) => system.hint(hint),
    awaitable: (operationId, timeout_ms) => system.awaitable(operationId, timeout_ms),
    status: () => system.status(),
  };
}

/** What the work gives within the time, or undefined. Rejects as the work does. */
async function within(limit_ms: number, work: Promise<SubmitOutcome>): Promise<SubmitOutcome | undefined> {
  try {
    return await Deadline.within(limit_ms, work);
  } catch (error) {
    if (error instanceof DeadlineExceeded) return undefined;
    throw error;
  }
}

/** Asks whether the database answers; all who ask at once share one question. */
function reachableOnce(control: Sql): () => Promise<boolean> {
  let asking: Promise<boolean> | undefined;
  return () => {
    asking ??= Deadline.within(LIMITS.submission_poll_ms, pingDatabase(control))
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
}
