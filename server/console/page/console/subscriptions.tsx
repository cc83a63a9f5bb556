import type { SubscriptionJson } from '../../../routes/subscription-json.js';
import { attemptWords } from './delivery-words.js';
import { Choice, List } from './list.js';
import { may, type PageProps } from './page-props.js';
import { Badge, Id, Time, Title } from './parts.js';
import { hereWith, hrefOf } from './place.js';

/** Where events of the workspace are pushed to. */
export function Subscriptions({ api, session, query, live }: PageProps) {
  const connection = query.get('connection_id');
  return (
    <>
      <Title text="Subscriptions" />
      <div class="filters">
        <Choice
          {...{ query }}
          name="active"
          label="Receives events"
          all="All"
          values={[
            ['true', 'Active'],
            ['false', 'Inactive'],
          ]}
        />
      </div>
      {connection && (
        <p>
          Of the connection <Id id={connection} /> · <a href={hereWith({ connection_id: null })}>Show all</a>
        </p>
      )}
      <List<SubscriptionJson>
        {...{ api, query, live }}
        label="subscriptions"
        path="/v1/subscriptions"
        field="subscriptions"
        filters={['active', 'connection_id']}
        topic="subscriptions"
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Address',
            cell: ({ id, callback_url }) => <a href={hrefOf(`subscriptions/${id}`)}>{callback_url}</a>,
          },
          { title: 'State', cell: (row) => <SubscriptionState of={row} /> },
          { title: 'Events', cell: ({ event_types }) => <EventTypes of={event_types} /> },
          {
            title: 'Connection',
            cell: ({ connection_id }) => <ConnectionId id={connection_id} linked={may(session, 'connections:read')} />,
          },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty="No subscription is like this."
      />
    </>
  );
}

/** Whether it gets events, whether it is on hold, whether its address is proven, and whether its receiver answers. */
export function SubscriptionState({ of: { active, on_hold, verified, paused } }: { of: SubscriptionJson }) {
  return (
    <span class="badges">
      {active ? <Badge tone="good" text="Active" /> : <Badge tone="quiet" text="Inactive" />}
      {on_hold && <Badge tone="quiet" text="On hold" />}
      {verified && <Badge tone="good" text="Verified" />}
      {paused && (
        <span title={attemptWords(paused.reason) ?? undefined}>
          <Badge tone="bad" text="Paused" />
        </span>
      )}
    </span>
  );
}

const SHOWN_TYPES = 2;

/** The first few by name. */
function EventTypes({ of }: { of: readonly string[] }) {
  const more = of.length - SHOWN_TYPES;
  return (
    <span title={of.join(', ')}>
      {of.slice(0, SHOWN_TYPES).join(', ')}
      {more > 0 && <span class="quiet"> and {more} more</span>}
    </span>
  );
}

export function ConnectionId({ id, linked }: { id: string; linked: boolean }) {
  return (
    <span class="badges">
      {linked && <a href={hrefOf(`connections/${id}`)}>Open</a>}
      <Id id={id} />
    </span>
  );
}
