import { useRef, useState } from 'preact/hooks';
import type { ConnectionJson } from '../../../../routes/connections/connection-json.js';
import type { ReconnectLinkJson } from '../../../../routes/connections/reconnect-link.js';
import type { QueuedOperationJson } from '../../../../routes/operations/operation-json.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Action, Copy, Id, Time } from '../kit/parts.js';
import { hrefOf } from '../kit/place.js';

interface ActionsProps {
  props: PageProps;
  connection: ConnectionJson;
  changed: () => void;
}

/** What a session may do with a connection. */
export function ConnectionActions({ props, connection, changed }: ActionsProps) {
  const { api, session } = props;
  const [link, setLink] = useState<ReconnectLinkJson | null>(null);
  // A login that this session may submit and not look at, and how the connection stood then.
  const [submitted, setSubmitted] = useState<{ id: string; stood: string } | null>(null);
  const stands = [
    connection.health,
    connection.health_since,
    connection.health_reason,
    connection.state_revision,
  ].join();
  // Of a login whose answer was lost the next try is the same one.
  const submission = useRef<string | null>(null);
  const way = `/v1/connections/${connection.id}`;
  const login = async () => {
    submission.current ??= newKey();
    const body = { capability: 'social.login', input: {} };
    const headers = { 'Idempotency-Key': submission.current };
    const { id } = await api.send<QueuedOperationJson>('POST', `${way}/operations`, body, headers);
    submission.current = null;
    if (may(session, 'operations:read')) location.hash = hrefOf(`operations/${id}`);
    else setSubmitted({ id, stood: stands });
  };
  const disconnect = async () => {
    await api.send('POST', `${way}/disconnect`);
    changed();
  };
  const makeLink = async () => setLink(await api.send<ReconnectLinkJson>('POST', `${way}/reconnect-link`));
  return (
    <>
      <div class="actions">
        {may(session, 'operations:write') && (
          <Action
            label="Log in"
            main={connection.health !== 'ready'}
            held={submitted?.stood === stands}
            done="Log in: submitted."
            run={login}
          />
        )}
        {may(session, 'connections:write', 'operations:write') && (
          <Action label="Make a reconnect link" done="" run={makeLink} />
        )}
        {may(session, 'connections:write') && (
          <Action
            label="Disconnect"
            confirm="The session ends, what waits is canceled, and subscriptions are deactivated. The history stays."
            run={disconnect}
          />
        )}
      </div>
      {submitted && (
        <p>
          A login was submitted as operation <Id id={submitted.id} />. Another one can be when the connection has
          changed, or when this page is loaded again.
        </p>
      )}
      {link && <Link link={link} />}
    </>
  );
}

function Link({ link }: { link: ReconnectLinkJson }) {
  return (
    <section class="card once" aria-label="Reconnect link" role="status">
      <p>
        Give this address to the owner of the account. It is shown only here, works once, and ends{' '}
        <Time at={link.expires_at} />.
      </p>
      <p>
        <code>{link.url}</code> <Copy text={link.url} what="link" />
      </p>
    </section>
  );
}

/** 16 random bytes: without TLS a browser has no `randomUUID`. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
