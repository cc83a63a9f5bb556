import type { Right } from '../../../../../storage/model/records.js';
import type { SessionJson } from '../../../sessions.js';
import type { Api } from './api.js';
import type { Live } from './live.js';
import type { Secret } from './shown-secret.js';

/** What every page is given. */
export interface PageProps {
  api: Api;
  session: SessionJson;
  /** What the page is about, where it is about one thing. */
  id: string | undefined;
  /** What stands behind the `?` of the fragment: filters. */
  query: URLSearchParams;
  live: Live;
  /** Shows a secret until it is put away, on whichever page one is. */
  keep: (secret: Secret) => void;
}

/** Whether the session has all of these rights: an action that needs more is not shown. */
export const may = (session: SessionJson, ...rights: Right[]) => rights.every((one) => session.scopes.includes(one));
