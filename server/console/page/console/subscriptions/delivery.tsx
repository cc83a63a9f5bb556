import './deliveries.css';
import { useState } from 'preact/hooks';
import type { DeliveryAttemptJson, DeliveryDetailJson } from '../../../../routes/subscriptions/deliveries.js';
import type { SubscriptionDetailJson } from '../../../../routes/subscriptions/subscription-json.js';
import type { Api } from '../kit/api.js';
import { useLoaded } from '../kit/loaded.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Action, Badge, Copy, Empty, Facts, Id, Problem, Time, Title } from '../kit/parts.js';
import { hrefOf } from '../kit/place.js';
import { Table } from '../kit/table.js';
import { lasting } from '../kit/times.js';
import { attemptWords, OUTCOMES } from '../words/delivery-words.js';
import { DeliveryBadge, Outcome } from './delivery-list.js';

/** One event on its way to one subscription: each attempt, and what was sent. */
export function Delivery({ api, session, id, live }: PageProps) {
  const [version, setVersion] = useState(0);
  const changed = () => setVersion((n) => n + 1);
  const path = `/v1/deliveries/${id}`;
  const load = () => api.get<DeliveryDetailJson>(path);
  const { value, error, again } = useLoaded(load, [api, path, version], live, 'subscriptions');
  const replay = async () => {
    await api.send('POST', `${path}/replay`);
    changed();
  };
  return (
    <>
      <Title text="Delivery">{value && <DeliveryBadge status={value.status} />}</Title>
      <Problem error={error} again={again} />
      {!value && !error && <Empty text="Loading" />}
      {value && (
        <>
          <Facts
            rows={[
              ['Event', value.event_type],
              ['Recorded', <Time key="recorded" at={value.received_at} />],
              ['What happened', <Outcome key="outcome" of={value} />],
              ['Replays', value.replay_count],
              ['Subscription', <Receiver key="subscription" {...{ api, live }} id={value.subscription_id} />],
              ['Id', <Id key="id" id={value.id} />],
              ['Id of the event', <Id key="event" id={value.event_id} />],
            ]}
          />
          {value.status === 'failed' && may(session, 'events:write') && <Action label="Replay" main run={replay} />}
          <h2>Attempts</h2>
          {value.attempts.length > 0 ? <Attempts of={value.attempts} /> : <Empty text="None was made yet." />}
          <SentBody {...{ api, path, live }} />
        </>
      )}
    </>
  );
}

/** The subscription, by whom it calls. */
function Receiver({ api, live, id }: Pick<PageProps, 'api' | 'live'> & { id: string }) {
  const load = () => api.get<SubscriptionDetailJson>(`/v1/subscriptions/${id}`);
  const { value } = useLoaded(load, [api, id], live, null);
  return <a href={hrefOf(`subscriptions/${id}`)}>{value ? new URL(value.callback_url).host : `…${id.slice(-8)}`}</a>;
}

function Attempts({ of }: { of: readonly DeliveryAttemptJson[] }) {
  return (
    <Table<DeliveryAttemptJson>
      rows={of}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Attempt', cell: ({ sequence }) => sequence },
        { title: 'Outcome', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
        {
          title: 'Error',
          cell: ({ error }) => (error === null ? <span class="quiet">none</span> : <code>{error}</code>),
        },
        {
          title: 'In words',
          cell: ({ error, status_code }) => attemptWords(error, status_code) ?? answered(status_code),
        },
        { title: 'Began', cell: ({ started_at }) => <Time at={started_at} /> },
        { title: 'Took', cell: (attempt) => took(attempt) },
      ]}
    />
  );
}

function OutcomeBadge({ outcome }: Pick<DeliveryAttemptJson, 'outcome'>) {
  const [tone, text] = OUTCOMES[outcome];
  return <Badge {...{ tone, text }} />;
}

const answered = (status: number | null) => (status === null ? '' : `The receiver answered ${status}.`);

const took = ({ started_at, completed_at }: DeliveryAttemptJson) =>
  completed_at === null ? (
    <span class="quiet">running</span>
  ) : (
    lasting(Date.parse(completed_at) - Date.parse(started_at))
  );

/** Byte for byte, because it is what the signature is over. */
function SentBody({ api, path, live }: { api: Api; path: string; live: PageProps['live'] }) {
  const { value, error, again } = useLoaded(() => api.text(`${path}/body`), [api, path], live, null);
  return (
    <>
      <h2>Body as it was sent {value !== undefined && <Copy text={value} what="body" />}</h2>
      <Problem error={error} again={again} />
      {value !== undefined && <pre class="sent">{value}</pre>}
    </>
  );
}
