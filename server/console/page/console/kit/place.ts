import { useEffect, useState } from 'preact/hooks';

/** Where in the console one is: `#/operations/<id>?workspace=<id>`. It stands behind the `#`, so that the service serves one page. */
export interface Place {
  /** Its page in the table; empty on the first one. */
  path: string;
  /** What the page is about, where it is about one thing. */
  id: string | undefined;
  /** Filters, and the workspace that an operator looks at. */
  query: URLSearchParams;
}

export type Refinement = Readonly<Record<string, string | null>>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An address that is none of the console's is a page that does not exist. */
function placeNow(): Place {
  const [, way = '', , query = ''] = /^#?\/?([^?]*)(\?(.*))?$/s.exec(location.hash) ?? [];
  const [path = '', id, ...more] = way.split('/');
  const known = more.length === 0 && (id === undefined || UUID.test(id));
  return { path: known ? path : way, id: known ? id : undefined, query: new URLSearchParams(query) };
}

function hashOf(way: string, query: URLSearchParams): string {
  const text = query.toString();
  return `#/${way}${text && `?${text}`}`;
}

/** A link to a page of the same workspace: `hrefOf('operations', { status: 'failed' })`. */
export function hrefOf(way: string, filters: Refinement = {}): string {
  const workspace = placeNow().query.get('workspace');
  return hashOf(way, refined(new URLSearchParams(workspace === null ? {} : { workspace }), filters));
}

/** In the fragment: the cursors that led to this page of a list, so that one comes back by the same way. */
export const TRAIL = 'at';

/** A link to where one is, with other filters, of which null takes one away: at the first page, unless it names another. */
export function hereWith(changes: Refinement): string {
  const { path, id, query } = placeNow();
  return hashOf(id ? `${path}/${id}` : path, refined(query, { [TRAIL]: null, ...changes }));
}

function refined(query: URLSearchParams, changes: Refinement): URLSearchParams {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  return query;
}

export function usePlace(): Place {
  const [place, setPlace] = useState(placeNow);
  useEffect(() => {
    const moved = () => setPlace(placeNow());
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return place;
}
