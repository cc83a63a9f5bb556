import type { ConnectionJson } from '../../../routes/connection-json.js';
import { List } from './list.js';
import type { PageProps } from './page-props.js';
import { Badge, Id, Title } from './parts.js';
import { hrefOf } from './place.js';

export function Connections({ api, query, live }: PageProps) {
  return (
    <>
      <Title text="Connections" />
      <List<ConnectionJson>
        {...{ api, query, live }}
        label="connections"
        path="/v1/connections"
        field="connections"
        topic="connections"
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Account',
            cell: (row) => <a href={hrefOf(`connections/${row.id}`)}>{row.external_actor.id ?? 'not signed in yet'}</a>,
          },
          { title: 'Health', cell: ({ health }) => <Badge tone={health === 'ready' ? 'good' : 'bad'} text={health} /> },
          { title: 'Id', cell: ({ id }) => <Id id={id} /> },
        ]}
        empty="There is no connection yet."
      />
    </>
  );
}
