import {
  inputContext,
  passwordContext,
  proxyCredentialsContext,
  sessionContext,
  subscriptionSecretContext,
} from './sealing.js';

/** A column of sealed values. */
export interface SealedColumn {
  table: 'connection' | 'operation' | 'subscription' | 'regional_proxy';
  column: string;
  /** The place that the value is bound to: the context it was sealed with. */
  context: (id: string) => string;
}

/** Every sealed column of the schema in rows with a uuid; beside them the one row of `installation` has a sealed secret. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'connection', column: 'password_sealed', context: passwordContext },
  { table: 'connection', column: 'session_sealed', context: sessionContext },
  { table: 'operation', column: 'input_sealed', context: inputContext },
  { table: 'subscription', column: 'secret_sealed', context: subscriptionSecretContext },
  { table: 'subscription', column: 'previous_secret_sealed', context: subscriptionSecretContext },
  { table: 'regional_proxy', column: 'credentials_sealed', context: proxyCredentialsContext },
];
