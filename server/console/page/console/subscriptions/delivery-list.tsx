import type { DeliveryStatus } from '../../../../../storage/model/records.js';
import type { DeliveryJson } from '../../../../routes/subscriptions/deliveries.js';
import type { DeliveryCountsJson } from '../../../../routes/subscriptions/subscription-json.js';
import { Choice, List } from '../kit/list.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Action, Badge, Time } from '../kit/parts.js';
import { hrefOf } from '../kit/place.js';
import { attemptWords, DELIVERIES } from '../words/delivery-words.js';

interface DeliveryListProps extends PageProps {
  /** Of the subscription. */
  path: string;
  counts: DeliveryCountsJson;
  version: number;
  changed: () => void;
}

/** The deliveries of a subscription, newest event first. */
export function DeliveryList({ api, session, query, live, path, counts, version, changed }: DeliveryListProps) {
  const statuses = Object.keys(DELIVERIES) as DeliveryStatus[];
  const replay = async (id: string) => {
    await api.send('POST', `/v1/deliveries/${id}/replay`);
    changed();
  };
  return (
    <>
      <h2>Deliveries</h2>
      <div class="filters">
        <Choice
          {...{ query }}
          name="status"
          label="Status"
          all={`All (${statuses.reduce((sum, status) => sum + counts[status], 0)})`}
          values={statuses.map((status) => [status, `${DELIVERIES[status][1]} (${counts[status]})`])}
        />
      </div>
      <List<DeliveryJson>
        {...{ api, query, live, version }}
        label="deliveries"
        path={`${path}/deliveries`}
        field="deliveries"
        filters={['status']}
        byOffset
        topic="subscriptions"
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Event',
            cell: ({ id, event_type }) => <a href={hrefOf(`deliveries/${id}`)}>{event_type}</a>,
          },
          { title: 'Recorded', cell: ({ received_at }) => <Time at={received_at} /> },
          { title: 'Status', cell: ({ status }) => <DeliveryBadge status={status} /> },
          { title: 'Attempts', cell: ({ attempt_count }) => attempt_count },
          { title: 'What happened', cell: (row) => <Outcome of={row} /> },
          ...(may(session, 'events:write')
            ? [
                {
                  title: 'Actions',
                  cell: ({ id, status }: DeliveryJson) =>
                    status === 'failed' && <Action label="Replay" run={() => replay(id)} />,
                },
              ]
            : []),
        ]}
        empty="No delivery is like this."
      />
    </>
  );
}

export function DeliveryBadge({ status }: Pick<DeliveryJson, 'status'>) {
  const [tone, text] = DELIVERIES[status];
  return <Badge {...{ tone, text }} />;
}

/** When it arrived, or why it did not and when it is tried again. */
export function Outcome({ of: { delivered_at, next_attempt_at, last_error } }: { of: DeliveryJson }) {
  if (delivered_at) {
    return (
      <span>
        Delivered <Time at={delivered_at} />
      </span>
    );
  }
  return (
    <span>
      {attemptWords(last_error)}{' '}
      {next_attempt_at && (
        <>
          Next attempt <Time at={next_attempt_at} />
        </>
      )}
    </span>
  );
}
