import type { SkipReason } from '../../browser-pool/contract/signature.js';
import type { RunEnd, SessionEffects } from '../../browser-pool/messages.js';
import { OperationError } from '../../storage/model/errors.js';
import { type Execution, Interrupted, type Outcome, type ProviderRuntime } from '../operations/execution.js';
import { outcomeAfterBoundary } from '../operations/outcome.js';
import type { BrowserLink } from './browser-link.js';
import { type OrderSources, orderRun } from './run-order.js';

export interface SocialRuntimeOptions extends OrderSources {
  /** The browser host that serves a partition. */
  link: (partition: number) => BrowserLink;
}

/**
 * Runs `social` operations: orders a run of the capability's page program from the browser host of the connection's
 * partition, and makes the operation's outcome of its end.
 */
export function createSocialRuntime(options: SocialRuntimeOptions): ProviderRuntime {
  return {
    async run(execution) {
      requireSensibleFilters(execution);
      const order = await orderRun(options, execution);
      const end = await options.link(execution.connection.partition).run(order, execution);
      return outcomeOf(end, execution);
    },
  };
}

/** OPS-6: the contents of recruiter filters are checked only when the operation starts. */
function requireSensibleFilters({ capability, input }: Execution): void {
  const errors = capability.checkInTurn?.(input) ?? [];
  if (errors.length > 0) throw new OperationError('validation_error', { errors });
}

function outcomeOf(end: RunEnd, { capability, signal }: Execution): Outcome {
  switch (end.type) {
    case 'result':
      return { status: 'succeeded', result: end.result, ...effectsOf(end.effects) };
    case 'skipped':
      return { status: 'skipped', reason: end.reason as SkipReason, ...effectsOf(end.effects) };
    case 'failure': {
      // Past the boundary only the provider's own refusal is proof that nothing was done.
      const unproven = outcomeAfterBoundary({ pastBoundary: end.pastBoundary, kind: capability.kind });
      if (unproven) return { status: 'outcome_unknown', ...effectsOf(end.effects) };
      if (end.code === 'canceled') {
        throw signal.reason instanceof Interrupted ? signal.reason : new Interrupted('canceled');
      }
      const failure = { code: end.code, details: end.details ?? {} };
      return { status: 'failed', failure, transient: end.transient, ...effectsOf(end.effects) };
    }
    default:
      return end satisfies never;
  }
}

const effectsOf = (effects: SessionEffects | undefined): { effects?: SessionEffects } => (effects ? { effects } : {});
