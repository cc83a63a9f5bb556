import type { StreamEnd } from '../../browser-pool/social/access/stream.js';
import type { EndedHealth } from '../../storage/connections/session-effects.js';

/** Why one stream ended, as its gap names it. With `ended`, no other stream of this session would open: this becomes the connection's health. */
export interface StreamLoss {
  reason: string;
  ended?: EndedHealth;
}

/** What the end of a stream means for its connection (CONN-8). */
export function lossOf({ reason }: StreamEnd): StreamLoss {
  switch (reason) {
    case 'logged_out':
      return { reason: 'stream_logged_out', ended: 'needs_login' };
    case 'restricted':
      return { reason: 'stream_restricted', ended: 'invalid' };
    case 'closed':
    case 'connection_lost':
    case 'timeout':
    case 'proxy':
    case 'refused':
    case 'malformed':
    case 'aborted':
      return { reason: `stream_${reason}` };
    default:
      return reason satisfies never;
  }
}
