import { LIMITS } from '../limits.js';
import type { ChallengeKind } from './accounts.js';
import { unguessable } from './sessions.js';

/** A security check before a sign-in or a switch goes on. Any answer uses it up: a wrong one raises another in its place. */
export interface Challenge {
  id: string;
  kind: ChallengeKind;
  username: string;
  /** The code before this one was wrong. */
  again: boolean;
  expiresAt: number;
  purpose: Purpose;
  /** Its owner has approved it on another device. */
  approved: boolean;
}

/** What the right code opens. */
export type Purpose =
  /** A session, and `next` is where the browser goes with it. */
  | { for: 'login'; next: string }
  /** A contract of the recruiter side, for the session that chose it. */
  | { for: 'recruiter'; contractId: string };

/** The code every challenge accepts. */
export const RIGHT_CODE = '000000';

/** Open challenges. Kept in memory only: after a restart the browser has to sign in anew. */
export class Challenges {
  readonly #challenges = new Map<string, Challenge>();

  raise(asked: Pick<Challenge, 'kind' | 'username' | 'purpose'>, again = false): Challenge {
    const { kind, username, purpose } = asked;
    const expiresAt = Date.now() + LIMITS.challenge_ms;
    const challenge = { id: `chl-${unguessable()}`, kind, username, purpose, again, expiresAt, approved: false };
    this.#challenges.set(challenge.id, challenge);
    return challenge;
  }

  open(id: string): Challenge | undefined {
    const challenge = this.#challenges.get(id);
    return challenge !== undefined && challenge.expiresAt > Date.now() ? challenge : undefined;
  }

  /** Its owner approves what waits for that now, or denies it, which uses it up. Gives how many that are. */
  approve(username: string, given: boolean): number {
    const waiting = [...this.#challenges.values()].filter(
      (one) => one.kind === 'approval' && one.username === username,
    );
    for (const challenge of waiting) {
      if (given) challenge.approved = true;
      else this.useUp(challenge.id);
    }
    return waiting.length;
  }

  useUp(id: string): void {
    this.#challenges.delete(id);
  }
}
