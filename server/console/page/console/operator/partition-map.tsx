import type { NodeJson, NodePartitionJson, NodesJson } from '../../../../routes/operator/nodes.js';
import { Id } from '../kit/parts.js';
import { Table } from '../kit/table.js';
import { lasting } from '../kit/times.js';

interface OwnedPartition {
  id: number;
  owner: { node: NodeJson; place: number; lease: NodePartitionJson } | null;
}

/** Every partition in order, with who owns it. */
function partitionsOf({ nodes, unowned_partitions }: NodesJson): OwnedPartition[] {
  const owned = nodes.flatMap((node, place) =>
    node.partitions.map((lease): OwnedPartition => ({ id: lease.id, owner: { node, place, lease } })),
  );
  const unowned = unowned_partitions.map((id): OwnedPartition => ({ id, owner: null }));
  return [...owned, ...unowned].sort((a, b) => a.id - b.id);
}

/** A picture for those who see it; `Partitions` tells the same, and more. */
export function PartitionMap(nodes: NodesJson) {
  return (
    <div class="partition-map" aria-hidden="true">
      {partitionsOf(nodes).map(({ id, owner }) => (
        <span key={id} class={`partition ${owner ? `tone${owner.place % 4}` : 'nobody'}`}>
          {owner ? letterOf(owner.place) : '–'}
          <small>{id}</small>
        </span>
      ))}
    </div>
  );
}

export function Partitions(nodes: NodesJson) {
  return (
    <details>
      <summary>Every partition with its lease</summary>
      <Table<OwnedPartition>
        rows={partitionsOf(nodes)}
        keyOf={({ id }) => `${id}`}
        columns={[
          { title: 'Partition', cell: ({ id }) => id },
          {
            title: 'Node',
            cell: ({ owner }) =>
              owner ? (
                <>
                  {letterOf(owner.place)} <Id id={owner.node.id} />
                </>
              ) : (
                <span class="quiet">nobody</span>
              ),
          },
          { title: 'Epoch', cell: ({ owner }) => owner?.lease.epoch },
          { title: 'Lease', cell: ({ owner }) => owner && `${lasting(owner.lease.lease_ms)} left` },
        ]}
      />
    </details>
  );
}

/** A node by its place among the nodes: the longest started is A. */
export const letterOf = (place: number): string => String.fromCharCode(65 + (place % 26));
