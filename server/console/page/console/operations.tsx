import type { OperationJson } from '../../../routes/operation-json.js';
import { CAPABILITIES } from './capabilities.js';
import { Choice, List } from './list.js';
import { failureWords, STATUSES } from './operation-words.js';
import type { PageProps } from './page-props.js';
import { Badge, Id, Time, Title } from './parts.js';
import { hereWith, hrefOf } from './place.js';

const CHOICES = CAPABILITIES.map((name) => [name, name] as const);

/** The operations of the workspace, or of one connection. */
export function Operations(props: PageProps) {
  const connection = props.query.get('connection_id');
  const statuses = Object.entries(STATUSES).map(([value, [, words]]) => [value, words] as const);
  return (
    <>
      <Title text="Operations" />
      <div class="filters">
        <Choice query={props.query} name="status" label="Status" all="Any status" values={statuses} />
        <Choice query={props.query} name="capability" label="Capability" all="Any capability" values={CHOICES} />
      </div>
      {connection && (
        <p>
          Of one connection only: <a href={hrefOf(`connections/${connection}`)}>{connection.slice(-8)}</a>.{' '}
          <a href={hereWith({ connection_id: null })}>Show all</a>
        </p>
      )}
      <OperationList {...props} />
    </>
  );
}

export function OperationList({ api, query, live, fixed }: PageProps & { fixed?: Readonly<Record<string, string>> }) {
  return (
    <List<OperationJson>
      {...{ api, query, live }}
      fixed={{ ...fixed, results: 'false' }}
      label="operations"
      path="/v1/operations"
      field="operations"
      filters={fixed ? [] : ['status', 'capability', 'connection_id']}
      topic="operations"
      keyOf={({ id }) => id}
      columns={[
        { title: 'Capability', cell: ({ id, capability }) => <a href={hrefOf(`operations/${id}`)}>{capability}</a> },
        { title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        { title: 'Error', cell: ({ error_code }) => error_code && failureWords(error_code).what },
        { title: 'Submitted', cell: ({ created_at }) => <Time at={created_at} /> },
        { title: 'Attempts', cell: ({ attempts }) => attempts.length },
        { title: 'Id', cell: ({ id }) => <Id id={id} /> },
      ]}
      empty={fixed ? 'There is no operation yet.' : 'There is no such operation.'}
    />
  );
}

export function StatusBadge({ status }: Pick<OperationJson, 'status'>) {
  const [tone, text] = STATUSES[status];
  return <Badge {...{ tone, text }} />;
}
