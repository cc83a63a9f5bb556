import { useMemo } from 'preact/hooks';
import type { OperationJson } from '../../../../routes/operations/operation-json.js';
import type { OperationsJson } from '../../../../routes/operations/operations.js';
import { Api } from '../kit/api.js';
import { Choice, List } from '../kit/list.js';
import type { PageProps } from '../kit/page-props.js';
import { Badge, Id, Time, Title } from '../kit/parts.js';
import { hereWith, hrefOf } from '../kit/place.js';
import { Account } from '../words/accounts.js';
import { failureWords, STATUSES } from '../words/operation-words.js';
import { CAPABILITIES } from './capabilities.js';

const CHOICES = CAPABILITIES.map((name) => [name, name] as const);

/** The operations of the workspace, or of one connection. */
export function Operations(props: PageProps) {
  const { api, session } = props;
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
          Of one connection only: <Account {...{ api, session }} id={connection} /> ·{' '}
          <a href={hereWith({ connection_id: null })}>Show all</a>
        </p>
      )}
      <OperationList {...props} />
    </>
  );
}

/** Pages without a row that are walked over at once to find a rare one: each of them looks at a bounded number of operations. */
const WALKED_PAGES = 8;

/** Where a page of operations is empty and the list goes on, the next one is answered. */
class WalkingApi extends Api {
  override async get<T>(...[path, ...more]: Parameters<Api['get']>): Promise<T> {
    let page = await super.get<T & OperationsJson>(path, ...more);
    for (let n = 0; n < WALKED_PAGES && page.operations.length === 0 && page.next_cursor !== null; n++) {
      const [route, query] = path.split('?');
      const next = new URLSearchParams(query);
      next.set('cursor', page.next_cursor);
      page = await super.get<T & OperationsJson>(`${route}?${next}`, ...more);
    }
    return page;
  }
}

/** Of one connection, that is told beside it: `fixed` names it. */
export function OperationList(props: PageProps & { fixed?: Readonly<Record<string, string>> }) {
  const { query, live, fixed } = props;
  const api = useMemo(() => new WalkingApi(props.api.workspace, props.api.heard), [props.api]);
  const account = {
    title: 'Account',
    cell: ({ connection_id }: OperationJson) => <Account {...props} id={connection_id} />,
  };
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
        {
          title: 'Capability',
          cell: ({ id, capability }) => (
            <a class="word" href={hrefOf(`operations/${id}`)}>
              {capability}
            </a>
          ),
        },
        ...(fixed ? [] : [account]),
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
