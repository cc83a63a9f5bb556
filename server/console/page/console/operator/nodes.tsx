import './nodes.css';
import type { NodeJson, NodesJson } from '../../../../routes/operator/nodes.js';
import { useLoaded } from '../kit/loaded.js';
import type { PageProps } from '../kit/page-props.js';
import { Badge, Empty, Id, Problem, Time, Title, type Tone } from '../kit/parts.js';
import { Table } from '../kit/table.js';
import { lasting } from '../kit/times.js';
import { letterOf, PartitionMap, Partitions } from './partition-map.js';

const STATES: Readonly<Record<NodeJson['state'], readonly [tone: Tone, words: string]>> = {
  alive: ['good', 'Alive'],
  late: ['wait', 'Late'],
  gone: ['bad', 'Gone'],
};

/** Who executes: the nodes, and the partitions that each owns. */
export function Nodes({ api, live }: PageProps) {
  // Leases are renewed all the time: they are looked at anew as often as the overview.
  const { value, error, again } = useLoaded(() => api.get<NodesJson>('/v1/operator/nodes'), [api], live, 'overview');
  return (
    <>
      <Title text="Nodes" />
      <Problem error={error} again={again} />
      {!value && !error && <Empty text="Loading" />}
      {value && value.unowned_partitions.length > 0 && (
        <div class="problem" role="status">
          <p>
            Nobody owns {spans(value.unowned_partitions)}. Found at the provider is accepted, and waits until a node has
            taken it.
          </p>
        </div>
      )}
      {value && value.nodes.length === 0 && <Empty text="No node runs." />}
      {value && value.nodes.length > 0 && (
        <>
          <Table<NodeJson>
            rows={value.nodes}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Node', cell: (node) => <Name node={node} place={value.nodes.indexOf(node)} /> },
              { title: 'State', cell: (node) => <State node={node} /> },
              { title: 'Partitions', cell: ({ partitions }) => spans(partitions.map(({ id }) => id)) },
              { title: 'Shortest lease', cell: ({ partitions }) => shortest(partitions) },
              { title: 'Holds', cell: ({ measures }) => <Holds measures={measures} /> },
              { title: 'Restarts', cell: ({ measures }) => restarts(measures) },
              { title: 'Last seen', cell: ({ heartbeat_at }) => <Time at={heartbeat_at} /> },
              { title: 'Started', cell: ({ started_at }) => <Time at={started_at} /> },
            ]}
          />
          <h2>Partitions</h2>
          <PartitionMap {...value} />
          <Partitions {...value} />
        </>
      )}
    </>
  );
}

function Name({ node, place }: { node: NodeJson; place: number }) {
  return (
    <span class="badges">
      <span class={`partition tone${place % 4}`}>{letterOf(place)}</span>
      <Id id={node.id} />
    </span>
  );
}

function State({ node: { state, measures } }: { node: NodeJson }) {
  const [tone, words] = state === 'alive' && measures?.draining ? (['wait', 'Ends'] as const) : STATES[state];
  return <Badge tone={tone} text={words} />;
}

/** What its threads and browsers have in hand. */
function Holds({ measures }: Pick<NodeJson, 'measures'>) {
  if (measures?.threads == null) return <span class="quiet">not told</span>;
  const { threads, mailboxes, queued, batch_items, browsers, contexts, pages, runs_waiting } = measures;
  const stored = batch_items === null ? '' : `, ${batch_items.toFixed(1)} submissions a statement`;
  return (
    <span class="stacked">
      <span>
        {counted(threads, 'thread')}, {counted(mailboxes, 'mailbox', 'mailboxes')}, {queued} queued{stored}
      </span>
      <span>
        {counted(browsers, 'browser')}, {counted(contexts, 'session')}, {counted(pages, 'page')}, {runs_waiting} waiting
      </span>
    </span>
  );
}

function restarts(measures: NodeJson['measures']) {
  const { thread_restarts, browser_restarts } = measures ?? {};
  if (thread_restarts == null || browser_restarts == null) return <span class="quiet">not told</span>;
  if (thread_restarts + browser_restarts === 0) return <span class="quiet">none</span>;
  return `${counted(thread_restarts, 'thread')}, ${counted(browser_restarts, 'browser')}`;
}

const counted = (count: number | null, one: string, many = `${one}s`) => `${count ?? 0} ${count === 1 ? one : many}`;

function shortest(partitions: NodeJson['partitions']) {
  if (partitions.length === 0) return <span class="quiet">none</span>;
  return `${lasting(Math.min(...partitions.map(({ lease_ms }) => lease_ms)))} left`;
}

/** Numbers in order, as `16 (0–7, 24–31)`. */
function spans(ids: readonly number[]) {
  if (ids.length === 0) return <span class="quiet">none</span>;
  const runs: [first: number, last: number][] = [];
  for (const id of ids) {
    const run = runs.at(-1);
    if (run && run[1] === id - 1) run[1] = id;
    else runs.push([id, id]);
  }
  return `${ids.length} (${runs.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(', ')})`;
}
