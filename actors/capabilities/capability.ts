import type { IValidation } from 'typia';
import type { FieldError } from '../../storage/model/errors.js';

/**
 * One record a capability: name, family, input, kind, what it needs, and how the simulated provider
 * answers. The page program of the same name stands in `browser-pool/social/`.
 */
export interface Capability {
  /** `social.message.send` */
  name: string;
  family: 'session' | 'identity' | 'discovery' | 'conversations' | 'sending';
  /** A write has a write boundary and is never tried again past it (OPS-4). */
  kind: 'read' | 'write';
  /** Needs the scope social:send beside operations:write. */
  send: boolean;
  /** What the connection must be when the turn comes: `session` is health ready, `recruiter` is recruiter.health ready as well. */
  needs: 'nothing' | 'session' | 'recruiter';
  /** The input holds message text or file bytes: stored sealed. */
  sealed: boolean;
  /** Signs in: gets the connection's credentials, and may choose the proxy that its session is pinned to. */
  opensSession?: true;
  /** May ask the connection's user for a code. */
  challenges?: true;
  /** The result holds a file, stored part by part beside the operation's row (OPS-14). */
  storesFile?: true;
  /** What is looked at only when the operation's turn comes; a fault ends it `validation_error` (OPS-6). */
  checkInTurn?: (input: Record<string, unknown>) => FieldError[];
  /** Refuses at submission what the specification lets one refuse; paths begin `$input`. */
  validate: (input: unknown) => IValidation<Record<string, unknown>>;
  /** What types alone cannot say (exactly one of, at least one of, sizes in bytes). Called on valid input only. */
  refine?: (input: Record<string, unknown>) => FieldError[];
}
