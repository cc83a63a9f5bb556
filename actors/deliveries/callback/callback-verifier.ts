import { randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '../../../storage/model/new-id.js';
import { LIMITS } from '../limits.js';
import { Sender, type SenderOptions } from './sender.js';
import { callbackHeaders } from './signature.js';

/** An address that is to prove that it wants callbacks. */
export interface Unproven {
  callbackUrl: string;
  /** Those that sign now, the newest first. */
  secrets: readonly string[];
  /** By the database's clock. */
  at: Date;
}

/**
 * Asks an address whether it wants callbacks, before a subscription to it becomes active; only where the operator wants that. Answer 2xx
 * with the challenge.
 */
export interface Verification {
  /** Always `subscription.verification`. */
  type: 'subscription.verification';
  /** What the answer repeats. */
  challenge: string;
}

/**
 * Asks addresses whether they want callbacks (EVT-18): one signed POST of `{type, challenge}`, through the guard and under the signature
 * of every callback. Yes is a 2xx whose body is the challenge, as plain text or as `{"challenge":…}`. What was sent is no answer: there
 * are servers that give back whatever they get.
 */
export class CallbackVerifier {
  readonly #sender: Sender;

  constructor({ deadline_ms = LIMITS.verification_ms, ...options }: SenderOptions) {
    this.#sender = new Sender({ ...options, deadline_ms });
  }

  /** True when the address has proven itself. Never rejects, and resolves within `verification_ms`. */
  async verify({ callbackUrl, secrets, at }: Unproven): Promise<boolean> {
    const challenge = randomBytes(32).toString('base64url');
    const body = Buffer.from(JSON.stringify({ type: 'subscription.verification', challenge } satisfies Verification));
    const id = newId();
    const headers = callbackHeaders({ eventId: id, deliveryId: id, body, at, secrets });
    const answer = await this.#sender.ask(callbackUrl, headers, body, LIMITS.verification_answer_bytes);
    return answer !== undefined && answersTo(challenge, answer.toString('utf8').trim());
  }

  /** Closes every connection. */
  close(): Promise<void> {
    return this.#sender.destroy();
  }
}

function answersTo(challenge: string, answer: string): boolean {
  if (same(answer, challenge)) return true;
  try {
    const said = JSON.parse(answer) as Partial<Verification> | null;
    return typeof said?.challenge === 'string' && said.type === undefined && same(said.challenge, challenge);
  } catch {
    return false;
  }
}

function same(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
