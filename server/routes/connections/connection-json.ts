import typia from 'typia';
import { type CapabilityName, capabilities } from '../../../actors/capabilities/catalogue.js';
import { PROVIDERS } from '../../../actors/provider-traits.js';
import type { ConnectionView } from '../../../storage/connections/connections.js';
import type { Health, Provider, RecruiterHealth } from '../../../storage/model/records.js';
import type { Count, Timestamp, Uuid } from '../../http/fields.js';

/** An account that operations run on (contract: "Connection"). The last five fields appear on `social` only (CONN-3). */
export interface ConnectionJson {
  /** Id of the connection. */
  id: Uuid;
  /** What stands behind it. */
  provider: Provider;
  /** Who the account is at the provider. */
  external_actor: {
    /** What kind of actor: `person`, or `installation` of a simulated connection. */
    kind: string;
    /** Hash id of the account; null on `social` before the first login. */
    id: string | null;
  };
  /** Whether it can work. */
  health: Health;
  /**
   * What led to its health: `created`, `login_succeeded`, `credentials_changed`, `region_changed`, `disconnected`, `stream_refused`, or the
   * `error_code` of the operation that found it out; null when it is not known.
   */
  health_reason: string | null;
  /** Since when it has it. */
  health_since: Timestamp;
  /** When it was created. */
  created_at: Timestamp;
  /** Your own id of it, null without one. */
  reference: string | null;
  /** Your own words for it. */
  labels: readonly string[];
  /** Names of the capabilities that can be submitted on it. */
  capabilities: readonly CapabilityName[];
  /** Generation of its session: a change invalidates what an earlier session still does. */
  state_revision: Count;
  /** The username with all but its first character and its domain masked, to tell accounts apart by; only on `social`. */
  account_hint?: string | null;
  /** Region of its proxy, two letters in upper case; only on `social`. */
  region?: string | null;
  /** Whether the region has an active proxy; only on `social`. */
  regional_proxy_configured?: boolean;
  /** The proxy that the session is pinned to, null before the first login; only on `social`. */
  session_proxy?: SessionProxyJson | null;
  /** What is known of its recruiter contract; only on `social`. */
  recruiter?: RecruiterJson;
}

/** The proxy that a session is pinned to. */
export interface SessionProxyJson {
  /** Id of the proxy, as the operator's command line shows it. */
  id: Uuid;
  /** Region of the proxy. */
  region: string;
  /** Whether the operator still offers it. */
  active: boolean;
  /** Whether its region is that of the connection. */
  matches_region: boolean;
}

/** Recruiter state of a connection, set by a successful `social.recruiter.switch`. */
export interface RecruiterJson {
  /** Whether recruiter reads work. */
  health: RecruiterHealth;
  /** Why they do not, null when they do or nothing is known. */
  reason: string | null;
  /** Name of the contract that was switched to last, null when there was none. */
  contract: string | null;
  /** When the contract was verified last, null when it never was. */
  verified_at: Timestamp | null;
  /** Generation of the session in which it was verified, null when it never was. */
  verified_session_revision: Count | null;
  /** The operation that changed this state last, null when there was none. */
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
    health_reason: row.health_reason,
    health_since: row.health_since.toISOString(),
    created_at: row.created_at.toISOString(),
    reference: row.reference,
    labels: row.labels,
    capabilities: NAMES,
    state_revision: row.state_revision,
  };
  if (!PROVIDERS[row.provider].signsIn) return common;
  return {
    ...common,
    account_hint: row.username === null ? null : masked(row.username),
    region: row.region,
    regional_proxy_configured: row.proxy_configured,
    session_proxy: sessionProxyJson(row),
    recruiter: recruiterJson(row),
  };
}

/**
 * `m•••@example.com`, or `m•••` where a username is no address (CONN-19). As many dots for each, so that nothing tells how long it is; of one that has a
 * single character before the `@`, or is one, not even that is shown.
 */
function masked(username: string): string {
  const at = username.lastIndexOf('@');
  const name = [...(at > 0 ? username.slice(0, at) : username)];
  return `${name.length > 1 ? name[0] : ''}•••${at > 0 ? username.slice(at) : ''}`;
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
