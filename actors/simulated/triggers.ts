import type { SkipReason } from '../../browser-pool/contract/signature.js';
import { OPERATION_ERRORS, type OperationErrorCode, type OperationFailure } from '../../storage/model/errors.js';
import type { ChallengeKind } from '../../storage/model/records.js';
import { LIMITS } from './limits.js';

/**
 * The words that decide how a simulated operation ends (SIM-1). One is found wherever it
 * does not touch a letter or a digit on its left, in `external_actor.id` or in any string of the input. Several may
 * stand together, and what is found in the input comes before what is found in the actor.
 */
export interface Triggers {
  delay_ms: number;
  challenge?: ChallengeKind;
  failure?: OperationFailure;
  skip?: SkipReason;
  /** Writes only: the answer of the provider is lost. */
  unknown: boolean;
}

const NONE: Triggers = { delay_ms: 0, unknown: false };

// Longest code first: one must not be taken for the beginning of another.
const CODES = Object.keys(OPERATION_ERRORS).sort((a, b) => b.length - a.length);
const TRIGGER = new RegExp(
  '(?<![\\p{L}\\p{N}])sim-(?:' +
    [
      'delay-(?<delay>\\d+)',
      `fail-(?<fail>${CODES.join('|')})`,
      'upstream-(?<upstream>[1-5]\\d\\d)(?!\\d)',
      '(?<unknown>unknown)',
      'skip-(?<skip>already_connected|invitation_pending|self_target)',
      'challenge-(?<challenge>email|sms|authenticator|captcha)',
      '(?<limited>rate-limited)',
    ].join('|') +
    ')',
  'gu',
);

/** Reads the triggers of one operation. */
export function triggersOf(actorId: string | null, input: Record<string, unknown>): Triggers {
  const texts = textsOf(input, []);
  if (actorId?.includes('sim-')) texts.push(actorId);
  if (texts.length === 0) return NONE;
  const triggers: Triggers = { ...NONE };
  let delayed = false;
  for (const { groups } of texts.flatMap((text) => [...text.matchAll(TRIGGER)])) {
    if (groups?.delay && !delayed) {
      delayed = true;
      triggers.delay_ms = Math.min(Number(groups.delay), LIMITS.delay_ms);
    }
    const failure = failureOf(groups ?? {});
    if (failure) triggers.failure ??= failure;
    if (groups?.skip) triggers.skip ??= groups.skip as SkipReason;
    if (groups?.challenge) triggers.challenge ??= groups.challenge as ChallengeKind;
    if (groups?.unknown) triggers.unknown = true;
  }
  return triggers;
}

/** The text without its triggers, for searches: they steer, they are not looked for. */
export function withoutTriggers(text: string): string {
  return text.includes('sim-') ? text.replace(TRIGGER, ' ') : text;
}

function failureOf(groups: Record<string, string | undefined>): OperationFailure | undefined {
  if (groups.limited) return { code: 'provider_rate_limited' };
  if (groups.upstream) return { code: 'upstream_error', details: { upstream_status: Number(groups.upstream) } };
  if (groups.fail === 'upstream_error') return { code: 'upstream_error', details: { upstream_status: 500 } };
  return groups.fail ? { code: groups.fail as OperationErrorCode } : undefined;
}

/** Every string of the value that can hold a trigger. */
function textsOf(value: unknown, found: string[]): string[] {
  if (typeof value === 'string') {
    if (value.includes('sim-')) found.push(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) textsOf(inner, found);
  }
  return found;
}
