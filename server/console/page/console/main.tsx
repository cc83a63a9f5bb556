import '../tokens.css';
import './base.css';
import './frame.css';
import './kit/fields.css';
import './kit/told.css';
import './kit/table.css';
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { SessionJson } from '../../sessions.js';
import { Frame } from './frame.js';
import { Api, ApiError } from './kit/api.js';
import { Channel } from './kit/live.js';
import { Empty, Problem } from './kit/parts.js';
import { usePlace } from './kit/place.js';
import { useSecrets } from './kit/shown-secret.js';
import { SignIn } from './sign-in.js';

/**
 * The console. Who is signed in decides what is shown; the place in the fragment stays over a sign-in, which so leads back to it.
 *
 *     unknown ─ asked ─▶ signed in ─ the session has ended, or a sign-out ─▶ signed out ─ a key ─▶ signed in
 */
type Who = { kind: 'unknown'; error: unknown } | { kind: 'in'; session: SessionJson } | { kind: 'out'; ended: boolean };

const SESSION = '/console/session';

function Console() {
  const [who, setWho] = useState<Who>({ kind: 'unknown', error: null });
  const ask = async () => {
    try {
      setWho({ kind: 'in', session: await new Api(null, () => {}).get<SessionJson>(SESSION) });
    } catch (error) {
      const out = error instanceof ApiError && error.status === 401;
      setWho(out ? { kind: 'out', ended: false } : { kind: 'unknown', error });
    }
  };
  useEffect(() => void ask(), []);
  switch (who.kind) {
    case 'unknown':
      return who.error ? <Problem error={who.error} again={ask} /> : <Empty text="Loading" />;
    case 'out':
      return <SignIn ended={who.ended} entered={(session) => setWho({ kind: 'in', session })} />;
    case 'in':
      return <SignedIn session={who.session} left={(ended) => setWho({ kind: 'out', ended })} />;
    default:
      return who satisfies never;
  }
}

function SignedIn({ session, left }: { session: SessionJson; left: (ended: boolean) => void }) {
  const place = usePlace();
  const live = useMemo(() => new Channel(), []);
  const workspace = session.kind === 'operator' ? place.query.get('workspace') : null;
  useEffect(() => live.start(workspace), [live, workspace]);
  const api = useMemo(
    () =>
      new Api(workspace, (what) => {
        if (what === 'ended') left(true);
        else if (what === 'refused') live.ask();
        else live.note(what);
      }),
    [workspace, live],
  );
  const signOut = async () => {
    await api.send('DELETE', SESSION);
    left(false);
  };
  const secrets = useSecrets();
  const props = { api, session, live, id: place.id, query: place.query, keep: secrets.keep };
  return <Frame {...{ props, place, secrets, signOut }} />;
}

render(<Console />, document.getElementById('page') as HTMLElement);
