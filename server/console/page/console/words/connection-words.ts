import type { Health, Provider } from '../../../../../storage/model/records.js';
import type { ConnectionJson, RecruiterJson } from '../../../../routes/connections/connection-json.js';
import type { ListenerJson } from '../../../../routes/connections/listener.js';
import type { Tone } from '../kit/parts.js';
import { failureWords } from './operation-words.js';

type Words<T extends string> = Readonly<Record<T, readonly [tone: Tone, words: string]>>;

export const HEALTHS: Words<Health> = {
  ready: ['good', 'Ready'],
  needs_login: ['wait', 'Needs login'],
  invalid: ['bad', 'Invalid'],
};

export const PROVIDERS: Readonly<Record<Provider, string>> = { social: 'Real account', simulated: 'Simulated' };

export const RECRUITER: Words<RecruiterJson['health']> = {
  not_verified: ['quiet', 'Not verified'],
  ready: ['good', 'Ready'],
  needs_switch: ['wait', 'Needs a contract'],
};

export const STREAMS: Words<ListenerJson['stream_status']> = {
  stopped: ['quiet', 'Stopped'],
  connecting: ['busy', 'Connecting'],
  connected: ['good', 'Connected'],
  degraded: ['bad', 'Interrupted'],
};

export const CONTINUITY: Words<ListenerJson['continuity_status']> = {
  continuous: ['good', 'Nothing is missing'],
  gap_open: ['bad', 'Events may be missing'],
  unknown: ['quiet', 'Nobody can tell'],
};

const REASONS: Readonly<Record<string, string>> = {
  created: 'It was created.',
  login_succeeded: 'The login succeeded.',
  credentials_changed: 'Its password was changed: log in again.',
  region_changed: 'Its region was changed: log in again.',
  disconnected: 'It was disconnected.',
  stream_refused: 'The provider refused the event stream: log in again.',
};

/** What led to its health. */
export const reasonWords = (reason: string): string => REASONS[reason] ?? failureWords(reason).what;

type Known = Pick<ConnectionJson, 'id' | 'provider' | 'external_actor' | 'account_hint'>;

/** What people know the connection by. Of a real account only a hint may be shown, and its id at the provider says nothing to them. */
export const accountOf = ({ id, provider, external_actor, account_hint }: Known): string =>
  provider === 'simulated' && external_actor.id !== null
    ? external_actor.id
    : `${account_hint ?? 'Real account'} (${id.slice(-8)})`;
