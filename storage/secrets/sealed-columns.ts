import {
  callbackUrlContext,
  eventDataContext,
  inputContext,
  lookContext,
  passwordContext,
  proxyCredentialsContext,
  resultContext,
  sessionContext,
  subscriptionSecretContext,
} from './sealing.js';

/** A column of sealed values. */
export interface SealedColumn {
  table: 'connection' | 'reconnect_link' | 'operation' | 'event' | 'subscription' | 'former_secret' | 'regional_proxy';
  column: string;
  /** The place that the value is bound to: the context it was sealed with. */
  context: (id: string) => string;
  /** Whose id the context takes, where it is not the row's own. */
  of?: 'subscription_id' | 'connection_id';
  /** Sealed as data (`KeyRing.sealData`), not as a secret. */
  data?: true;
}

/**
 * Every sealed column of the schema in rows with a uuid. Beside them the one row of `installation` has a sealed secret, and the
 * parts of files are sealed (`operation_file.bytes`).
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'reconnect_link', column: 'password_sealed', context: passwordContext, of: 'connection_id' },
  { table: 'connection', column: 'password_sealed', context: passwordContext },
  { table: 'connection', column: 'session_sealed', context: sessionContext },
  { table: 'operation', column: 'input_sealed', context: inputContext, data: true },
  { table: 'operation', column: 'result_sealed', context: resultContext, data: true },
  { table: 'operation', column: 'evidence_look_sealed', context: lookContext, data: true },
  { table: 'event', column: 'data_sealed', context: eventDataContext, data: true },
  { table: 'subscription', column: 'secret_sealed', context: subscriptionSecretContext },
  // Behind the column that its values are moved from: what a rotation moves while these are put under a key is not missed.
  { table: 'former_secret', column: 'secret_sealed', context: subscriptionSecretContext, of: 'subscription_id' },
  { table: 'subscription', column: 'callback_url_sealed', context: callbackUrlContext, data: true },
  { table: 'regional_proxy', column: 'credentials_sealed', context: proxyCredentialsContext },
];
