import { useLoaded } from './loaded.js';
import type { PageProps } from './page-props.js';
import { Empty, Problem } from './parts.js';
import { hereWith, TRAIL } from './place.js';
import { Table, type TableProps } from './table.js';

export interface ListProps<Row> extends Pick<PageProps, 'api' | 'query' | 'live'>, Omit<TableProps<Row>, 'rows'> {
  /** What is listed, for those who hear it. */
  label: string;
  /** The route, such as `/v1/operations`. */
  path: string;
  /** The field of its answer that holds the rows. */
  field: string;
  /** Filters that always hold. */
  fixed?: Readonly<Record<string, string>>;
  /** Filters of the fragment that the route takes under the same names. */
  filters?: readonly string[];
  topic: string;
  /** Where the route pages by `offset` and not by `cursor`. */
  byOffset?: true;
  /** Another one after an action: then it is loaded anew. */
  version?: number;
  /** In words, where there is nothing. */
  empty: string;
}

const PAGE_ROWS = 25;

/** A list, one page of it at a time. Its filters and place stand in the fragment. */
export function List<Row>(props: ListProps<Row>) {
  const { api, query, live, path, field, fixed = {}, filters = [], topic, byOffset, version } = props;
  const trail = (query.get(TRAIL) ?? '').split('.').filter((cursor) => cursor !== '');
  const asked = new URLSearchParams({ ...fixed, ...(!byOffset && { limit: String(PAGE_ROWS) }) });
  const cursor = trail.at(-1);
  if (cursor !== undefined) asked.set(byOffset ? 'offset' : 'cursor', cursor);
  for (const name of filters) if (query.get(name)) asked.set(name, query.get(name) ?? '');
  const address = `${path}?${asked}`;
  const load = async (signal: AbortSignal) => ({ address, page: await api.get<Page<Row>>(address, signal) });
  const { value: loaded, error, loading, again } = useLoaded(load, [api, address, version], live, topic);
  // What was loaded for another place stands neither under this one's filters nor for its next page.
  const value = loaded?.address === address ? loaded.page : undefined;
  const rows = value?.[field] as Row[] | undefined;
  const next = (byOffset ? value?.next_offset : value?.next_cursor) ?? null;
  const onward = next === null ? trail : [...trail, next];
  return (
    <section aria-label={props.label} aria-busy={loading || (!value && !error)}>
      <Problem error={error} again={again} />
      {rows && rows.length > 0 && <Table columns={props.columns} rows={rows} keyOf={props.keyOf} />}
      {rows?.length === 0 && (
        <Empty text={next === null ? props.empty : 'Nothing so far. There may be more further on.'} />
      )}
      {!rows && !error && <Empty text="Loading" />}
      {(trail.length > 0 || next !== null) && (
        <nav class="pages" aria-label={`Pages of ${props.label}`}>
          {trail.length > 0 ? (
            <a href={hereWith({ [TRAIL]: trail.slice(0, -1).join('.') })}>Previous page</a>
          ) : (
            <span />
          )}
          <span>Page {trail.length + 1}</span>
          {/* Until it is known where it leads it leads nowhere, but keeps the keyboard's place. */}
          {next !== null || !value ? (
            <a href={hereWith({ [TRAIL]: onward.join('.') })} aria-disabled={next === null}>
              Next page
            </a>
          ) : (
            <span />
          )}
        </nav>
      )}
    </section>
  );
}

type Page<Row> = { next_cursor?: string | null; next_offset?: number | null } & Record<string, Row[] | unknown>;

export const filterBy = (name: string, value: string) => {
  location.hash = hereWith({ [name]: value });
};

/** A choice among a few values, kept in the fragment; the first one is no filter. */
export function Choice(props: {
  query: URLSearchParams;
  name: string;
  label: string;
  all: string;
  values: readonly (readonly [value: string, words: string])[];
}) {
  const { query, name, label, all, values } = props;
  return (
    <label class="filter">
      {label}
      <select value={query.get(name) ?? ''} onChange={(event) => filterBy(name, event.currentTarget.value)}>
        <option value="">{all}</option>
        {values.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A text to look for, taken with Enter, kept in the fragment. */
export function Search({ query, name, label }: { query: URLSearchParams; name: string; label: string }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget as HTMLFormElement).get(name);
    filterBy(name, typeof text === 'string' ? text.trim() : '');
  };
  return (
    <form class="filter" onSubmit={submit}>
      <label>
        {label}
        <input name={name} type="search" maxLength={255} defaultValue={query.get(name) ?? ''} key={query.get(name)} />
      </label>
    </form>
  );
}
