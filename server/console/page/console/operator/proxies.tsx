import type { ProxiesJson, ProxyJson } from '../../../../routes/operator/nodes.js';
import { useLoaded } from '../kit/loaded.js';
import type { PageProps } from '../kit/page-props.js';
import { Badge, Empty, Id, Problem, Time, Title } from '../kit/parts.js';
import { type Column, Table } from '../kit/table.js';

/** Where the traffic of accounts leaves from, by region. */
export function Proxies({ api, live }: PageProps) {
  const { value, error, again } = useLoaded(() => api.get<ProxiesJson>('/v1/operator/proxies'), [api], live, 'proxies');
  return (
    <>
      <Title text="Proxies" />
      <Problem error={error} again={again} />
      {!value && !error && <Empty text="Loading" />}
      {value?.proxies.length === 0 && <Empty text="There is no proxy: accounts cannot log in." />}
      {value && value.proxies.length > 0 && (
        <Table<ProxyJson> rows={value.proxies} keyOf={({ id }) => id} columns={COLUMNS} />
      )}
    </>
  );
}

const COLUMNS: readonly Column<ProxyJson>[] = [
  { title: 'Region', cell: ({ region }) => regionName(region) },
  { title: 'Address', cell: ({ url }) => url },
  {
    title: 'State',
    cell: ({ active, failing_since }) => (
      <span class="badges">
        {active ? <Badge tone="good" text="Offered" /> : <Badge tone="quiet" text="Not offered" />}
        {failing_since && (
          <>
            <Badge tone="bad" text="Fails" /> <Time at={failing_since} />
          </>
        )}
      </span>
    ),
  },
  {
    title: 'Connections',
    cell: ({ connections }) => (connections > 0 ? connections : <span class="quiet">none</span>),
  },
  { title: 'Credentials', cell: ({ has_credentials }) => (has_credentials ? 'yes' : <span class="quiet">none</span>) },
  { title: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Id', cell: ({ id }) => <Id id={id} /> },
];

const NAMES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

const regionName = (region: string) => {
  const name = NAMES.of(region);
  return name && name !== region ? `${name} (${region})` : region;
};
