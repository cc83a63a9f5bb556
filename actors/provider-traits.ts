import { STAND_IN_DOMAINS } from '../browser-pool/social/site/stand-in.js';
import type { Provider } from '../storage/model/records.js';

/** What sets one provider apart from another, so that no other code compares a provider's name. */
export interface ProviderTraits {
  /** Signs in to an account: its connections have credentials, a region, a proxy and a recruiter state (CONN-3). */
  readonly signsIn: boolean;
  /** A recruiter's operation needs a contract that was verified in the present session (CONN-9). */
  readonly verifiesRecruiter: boolean;
  /** Events come over a stream that can break; otherwise nothing stands between a connection and its events. */
  readonly streamsEvents: boolean;
  /** Callers may record events on its connections (EVT-11). */
  readonly takesEvents: boolean;
  /** Domains of its files; absent where the configuration names them. */
  readonly fileDomains?: readonly string[];
}

export const PROVIDERS: Readonly<Record<Provider, ProviderTraits>> = {
  social: { signsIn: true, verifiesRecruiter: true, streamsEvents: true, takesEvents: false },
  simulated: {
    signsIn: false,
    verifiesRecruiter: false,
    streamsEvents: false,
    takesEvents: true,
    fileDomains: STAND_IN_DOMAINS,
  },
};
