import { OPERATOR, SCOPES } from '../../../storage/model/records.js';
import type { SessionJson, SignInInput } from '../../console/sessions.js';
import { AT, KEY, OPERATOR_ID, TOMORROW, WORKSPACE } from './values.js';

export const signIn: SignInInput = { key: 'cs_live_a-key-of-your-own' };
export const session: SessionJson = {
  kind: 'key',
  id: KEY,
  name: 'backend',
  workspace: { id: WORKSPACE, name: 'Acme' },
  scopes: [...SCOPES],
  created_at: AT,
  expires_at: TOMORROW,
  key_expires_at: TOMORROW,
  key_warning_days: 14,
};
export const operator: SessionJson = {
  ...session,
  kind: 'operator',
  id: OPERATOR_ID,
  name: 'Grace',
  workspace: null,
  scopes: [OPERATOR, ...SCOPES],
  key_expires_at: null,
};
