import type { ConnectionJson } from '../../../../routes/connections/connection-json.js';
import { Choice, List, Search } from '../kit/list.js';
import type { PageProps } from '../kit/page-props.js';
import { Badge, Id, Time, Title } from '../kit/parts.js';
import { hrefOf } from '../kit/place.js';
import { accountOf, HEALTHS, PROVIDERS, reasonWords } from '../words/connection-words.js';

const FILTERS = ['search', 'reference', 'health', 'provider'];

/** The connections of the workspace. */
export function Connections({ api, query, live }: PageProps) {
  const healths = Object.entries(HEALTHS).map(([value, [, words]]) => [value, words] as const);
  return (
    <>
      <Title text="Connections" />
      <div class="filters">
        <Search query={query} name="search" label="Username or name" />
        <Search query={query} name="reference" label="Your reference" />
        <Choice query={query} name="health" label="Health" all="Any health" values={healths} />
        <Choice query={query} name="provider" label="Kind" all="Any kind" values={Object.entries(PROVIDERS)} />
      </div>
      <List<ConnectionJson>
        {...{ api, query, live }}
        label="connections"
        path="/v1/connections"
        field="connections"
        filters={FILTERS}
        topic="connections"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Account', cell: (row) => <a href={hrefOf(`connections/${row.id}`)}>{accountOf(row)}</a> },
          { title: 'Your reference', cell: ({ reference }) => reference },
          { title: 'Health', cell: ({ health }) => <HealthBadge health={health} /> },
          { title: 'Because', cell: ({ health_reason }) => health_reason && reasonWords(health_reason) },
          { title: 'Since', cell: ({ health_since }) => health_since && <Time at={health_since} /> },
          { title: 'Kind', cell: ({ provider, region }) => [PROVIDERS[provider], region && `, ${region}`] },
          { title: 'Id', cell: ({ id }) => <Id id={id} /> },
        ]}
        empty={FILTERS.some((name) => query.has(name)) ? 'There is no such connection.' : 'There is no connection yet.'}
      />
    </>
  );
}

export function HealthBadge({ health }: Pick<ConnectionJson, 'health'>) {
  const [tone, text] = HEALTHS[health];
  return <Badge {...{ tone, text }} />;
}
