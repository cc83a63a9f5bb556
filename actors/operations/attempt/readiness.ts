import type { ConnectionRow } from '../../../storage/model/records.js';
import type { Capability } from '../../capabilities/capability.js';
import { PROVIDERS } from '../../provider-traits.js';
import type { Outcome } from './execution.js';

/** The failure of an operation whose connection does not meet what its capability needs when it starts (OPS-6) or looks (OPS-22); undefined when it does. */
export function notReady(capability: Capability, connection: ConnectionRow): Outcome | undefined {
  const { needs } = capability;
  const ready = connection.health === 'ready';
  const recruiter =
    !PROVIDERS[connection.provider].verifiesRecruiter ||
    (connection.recruiter_health === 'ready' && connection.recruiter_verified_revision === connection.state_revision);
  switch (needs) {
    case 'nothing':
      return undefined;
    case 'session':
      return ready ? undefined : refused('connection_not_ready', connection.health);
    case 'recruiter':
      if (!ready) return refused('connection_not_ready', connection.health);
      return recruiter ? undefined : refused('recruiter_not_ready', connection.recruiter_health);
    default:
      return needs satisfies never;
  }
}

const refused = (code: 'connection_not_ready' | 'recruiter_not_ready', health: string): Outcome => ({
  status: 'failed',
  failure: { code, details: { health } },
});
