import typia from 'typia';
import { type CapabilityName, capabilities } from '../../actors/capabilities/catalogue.js';
import { PROVIDERS } from '../../actors/provider-traits.js';
import type { ConnectionView } from '../../storage/connections/connections.js';
import type { Health, Provider, RecruiterHealth } from '../../storage/model/records.js';
import type { Count, Timestamp, Uuid } from '../http/fields.js';

/** Connection as it is answered (contract: "Connection"). The last four fields appear on `social` only (CONN-3). */
export interface ConnectionJson {
  id: Uuid;
  provider: Provider;
  external_actor: { kind: string; id: string | null };
  health: Health;
  /** Capability names available. */
  capabilities: readonly CapabilityName[];
  /** Session generation; a change invalidates earlier session ownership. */
  state_revision: Count;
  region?: string | null;
  regional_proxy_configured?: boolean;
  session_proxy?: SessionProxyJson | null;
  recruiter?: RecruiterJson;
}

/** The proxy the connection is pinned to. */
export interface SessionProxyJson {
  id: Uuid;
  region: string;
  active: boolean;
  matches_region: boolean;
}

export interface RecruiterJson {
  health: RecruiterHealth;
  reason: string | null;
  contract: string | null;
  verified_at: Timestamp | null;
  verified_session_revision: Count | null;
  operation_id: Uuid | null;
}

export const connectionSchema = typia.json.schemas<[ConnectionJson]>();

const NAMES = capabilities.map(({ name }) => name);

export function connectionJson(row: ConnectionView): ConnectionJson {
  const common: ConnectionJson = {
    id: row.id,
    provider: row.provider,
    external_actor: { kind: row.actor_kind, id: row.actor_id },
    health: row.health,
    capabilities: NAMES,
    state_revision: row.state_revision,
  };
  if (!PROVIDERS[row.provider].signsIn) return common;
  return {
    ...common,
    region: row.region,
    regional_proxy_configured: row.proxy_configured,
    session_proxy: sessionProxyJson(row),
    recruiter: recruiterJson(row),
  };
}

function sessionProxyJson(row: ConnectionView): SessionProxyJson | null {
  if (row.proxy_id === null || row.pinned_region === null) return null;
  return {
    id: row.proxy_id,
    region: row.pinned_region,
    active: row.pinned_active === true,
    matches_region: row.pinned_region === row.region,
  };
}

/** `ready` only while it was verified in the current session (CONN-9). */
function recruiterJson(row: ConnectionView): RecruiterJson {
  const stale = row.recruiter_health === 'ready' && row.recruiter_verified_revision !== row.state_revision;
  return {
    health: stale ? 'not_verified' : row.recruiter_health,
    reason: row.recruiter_reason,
    contract: row.recruiter_contract,
    verified_at: row.recruiter_verified_at?.toISOString() ?? null,
    verified_session_revision: row.recruiter_verified_revision,
    operation_id: row.recruiter_operation_id,
  };
}
