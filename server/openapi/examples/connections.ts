import { capabilities } from '../../../actors/capabilities/catalogue.js';
import type { NamesInput } from '../../routes/connections/client-names.js';
import type { ConnectionPatchInput, DisconnectedJson } from '../../routes/connections/connection-changes.js';
import type { ConnectionJson } from '../../routes/connections/connection-json.js';
import type { ConnectionsJson, NewSimulatedInput, NewSocialInput } from '../../routes/connections/connections.js';
import type { ServiceHealthJson, ServiceUnavailableJson, UnreadyJson } from '../../routes/health.js';
import { AT, CONNECTION, HINT, LATER, LATEST, OPERATION, OWN_HASH_ID, PROXY, REFERENCE, USERNAME } from './values.js';

/** Connections, and what creates and changes them. */

export const healthy: ServiceHealthJson = { status: 'ok' };
export const unhealthy: ServiceUnavailableJson = { status: 'unavailable' };
export const unready: UnreadyJson = { status: 'unavailable', reasons: ['database'] };

const NAMES = capabilities.map(({ name }) => name);

/** As it is after its login and a recruiter switch. */
export const connection: ConnectionJson = {
  id: CONNECTION,
  provider: 'social',
  external_actor: { kind: 'person', id: OWN_HASH_ID },
  health: 'ready',
  health_reason: 'login_succeeded',
  health_since: LATER,
  created_at: AT,
  reference: REFERENCE,
  labels: ['sales', 'trial'],
  capabilities: NAMES,
  state_revision: 2,
  account_hint: HINT,
  region: 'DE',
  regional_proxy_configured: true,
  session_proxy: { id: PROXY, region: 'DE', active: true, matches_region: true },
  recruiter: {
    health: 'ready',
    reason: null,
    contract: 'Talent Europe',
    verified_at: LATER,
    verified_session_revision: 2,
    operation_id: OPERATION,
  },
};

const NOT_VERIFIED = {
  health: 'not_verified',
  reason: null,
  contract: null,
  verified_at: null,
  verified_session_revision: null,
  operation_id: null,
} as const;

/** The same before its first login. */
export const created: ConnectionJson = {
  ...connection,
  external_actor: { kind: 'person', id: null },
  health: 'needs_login',
  health_reason: 'created',
  health_since: AT,
  state_revision: 0,
  session_proxy: null,
  recruiter: NOT_VERIFIED,
};

export const synthetic: ConnectionJson = {
  id: CONNECTION,
  provider: 'simulated',
  external_actor: { kind: 'person', id: 'ada' },
  health: 'ready',
  health_reason: 'created',
  health_since: AT,
  created_at: AT,
  reference: null,
  labels: [],
  capabilities: NAMES,
  state_revision: 0,
};

export const list: ConnectionsJson = { connections: [connection], next_cursor: null };

export const newSocial: NewSocialInput = {
  provider: 'social',
  username: USERNAME,
  password: 'sandbox',
  region: 'DE',
  reference: REFERENCE,
  labels: ['sales', 'trial'],
};
export const newSimulated: NewSimulatedInput = {
  provider: 'simulated',
  external_actor: { kind: 'person', id: 'ada' },
  reference: REFERENCE,
  labels: ['test'],
};
export const names: NamesInput = { reference: REFERENCE, labels: ['sales', 'trial'] };
export const patch: ConnectionPatchInput = { password: 'sandbox', region: 'FR' };
/** What the patch leaves. */
export const patched: ConnectionJson = {
  ...connection,
  health: 'needs_login',
  health_reason: 'credentials_changed',
  health_since: LATEST,
  state_revision: 3,
  region: 'FR',
  session_proxy: null,
  recruiter: { ...connection.recruiter, ...NOT_VERIFIED, contract: 'Talent Europe' },
};
export const disconnected: DisconnectedJson = { health: 'needs_login' };
