import { useEffect, useState } from 'preact/hooks';
import type { ConnectionJson } from '../../../../routes/connections/connection-json.js';
import type { ConnectionsJson } from '../../../../routes/connections/connections.js';
import type { Api } from '../kit/api.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Id } from '../kit/parts.js';
import { hrefOf } from '../kit/place.js';
import { accountOf } from './connection-words.js';

/** As many as the route takes. */
const AT_ONCE = 50;
/** A name hardly ever changes, and then it is another a while later. */
const KEPT_ms = 60_000;

type Named = Promise<ConnectionJson | undefined>;

/** What the accounts of connections are called. Those that are asked for together, as by the rows of a list, are one request. */
class Accounts {
  readonly #kept = new Map<string, Named>();
  #wanted: { id: string; settle: (one: ConnectionJson | undefined) => void }[] = [];

  constructor(readonly api: Api) {}

  /** Undefined: it is gone, or nobody could be asked. */
  of(id: string): Named {
    const known = this.#kept.get(id);
    if (known) return known;
    const asked = new Promise<ConnectionJson | undefined>((settle) => {
      if (this.#wanted.push({ id, settle }) === 1) setTimeout(() => this.#ask());
    });
    this.#kept.set(id, asked);
    setTimeout(() => this.#kept.delete(id), KEPT_ms);
    return asked;
  }

  #ask(): void {
    const wanted = this.#wanted;
    this.#wanted = [];
    for (let n = 0; n < wanted.length; n += AT_ONCE) {
      const some = wanted.slice(n, n + AT_ONCE);
      this.api.get<ConnectionsJson>(`/v1/connections?ids=${some.map(({ id }) => id).join()}`).then(
        ({ connections }) => {
          for (const { id, settle } of some) settle(connections.find((one) => one.id === id));
        },
        () => {
          for (const { id, settle } of some) {
            this.#kept.delete(id);
            settle(undefined);
          }
        },
      );
    }
  }
}

/** Of each workspace that is looked at. */
const accounts = new WeakMap<Api, Accounts>();

function accountsOf(api: Api): Accounts {
  const known = accounts.get(api) ?? new Accounts(api);
  accounts.set(api, known);
  return known;
}

/** What the account of a connection is called; until that is known, and where nobody can tell, the end of its id. */
export function AccountName({ api, id }: Pick<PageProps, 'api'> & { id: string }) {
  const [connection, show] = useState<ConnectionJson | undefined>();
  useEffect(() => {
    let shown = true;
    void accountsOf(api)
      .of(id)
      .then((found) => shown && show(found));
    return () => {
      shown = false;
    };
  }, [api, id]);
  return <>{connection ? accountOf(connection) : `…${id.slice(-8)}`}</>;
}

/** The connection, by the name of its account and with the way to it, where the session may read it; else by its id. */
export function Account({ api, session, id }: Pick<PageProps, 'api' | 'session'> & { id: string }) {
  if (!may(session, 'connections:read')) return <Id id={id} />;
  return (
    <a href={hrefOf(`connections/${id}`)}>
      <AccountName {...{ api, id }} />
    </a>
  );
}
