import type { SkipReason } from '../../browser-pool/contract/signature.js';
import { OPERATION_ERRORS, type OperationErrorCode } from '../../storage/model/error-codes.js';
import type { OperationFailure } from '../../storage/model/errors.js';
import type { ChallengeKind } from '../../storage/model/records.js';
import { LIMITS } from './limits.js';

/**
 * The words that decide how a simulated operation ends (SIM-1). One is found wherever it does not touch a letter or a digit
 * on its left, in `external_actor.id` or in any string of the input. Several may stand together, and what is found in the
 * input comes before what is found in the actor.
 */
export interface Triggers {
  delay_ms: number;
  challenge?: ChallengeKind;
  failure?: OperationFailure;
  skip?: SkipReason;
  /** Writes only: the answer of the provider is lost. */
  unknown: boolean;
  /** With `unknown`: it was written all the same. */
  written?: true;
}

const NONE: Triggers = { delay_ms: 0, unknown: false };

// Longest code first: one must not be taken for the beginning of another.
const CODES = Object.keys(OPERATION_ERRORS).sort((a, b) => b.length - a.length);

/** One word that steers: what stands behind `sim-`, as it is read and as it is told. */
interface Trigger {
  /** A regular expression whose groups `triggersOf` knows. */
  readonly pattern: string;
  /** The word with its choices, for people. */
  readonly word: string;
  readonly meaning: string;
  readonly example: string;
}

/** Every trigger there is. */
export const TRIGGERS: readonly Trigger[] = [
  {
    pattern: 'delay-(?<delay>\\d+)',
    word: 'sim-delay-<ms>',
    meaning: `The operation takes so many milliseconds longer, ${LIMITS.delay_ms} at most.`,
    example: 'sim-delay-500',
  },
  {
    pattern: `fail-(?<fail>${CODES.join('|')})`,
    word: 'sim-fail-<error_code>',
    meaning: 'The operation fails with this code.',
    example: 'sim-fail-proxy_error',
  },
  {
    pattern: 'upstream-(?<upstream>[1-5]\\d\\d)(?!\\d)',
    word: 'sim-upstream-<status>',
    meaning: 'The operation fails with `upstream_error` and this `upstream_status`.',
    example: 'sim-upstream-502',
  },
  {
    pattern: '(?<unknown>unknown)(?<written>-written)?',
    word: 'sim-unknown, sim-unknown-written',
    meaning: 'A write ends with `outcome_unknown`; with `-written` it was done all the same, and a look finds it.',
    example: 'sim-unknown',
  },
  {
    pattern: 'skip-(?<skip>already_connected|invitation_pending|self_target)',
    word: 'sim-skip-<already_connected|invitation_pending|self_target>',
    meaning: 'The operation is skipped for this reason.',
    example: 'sim-skip-already_connected',
  },
  {
    pattern: 'challenge-(?<challenge>email|sms|authenticator|approval|captcha)',
    word: 'sim-challenge-<email|sms|authenticator|approval|captcha>',
    meaning: `A login or recruiter switch waits for this challenge; the code \`000000\` is right, any other wrong. An approval is given after ${LIMITS.approval_ms} ms.`,
    example: 'sim-challenge-sms',
  },
  {
    pattern: '(?<limited>rate-limited)',
    word: 'sim-rate-limited',
    meaning: 'The operation fails with `provider_rate_limited`.',
    example: 'sim-rate-limited',
  },
];

const TRIGGER = new RegExp(`(?<![\\p{L}\\p{N}])sim-(?:${TRIGGERS.map(({ pattern }) => pattern).join('|')})`, 'gu');

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
    if (groups?.written) triggers.written = true;
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
