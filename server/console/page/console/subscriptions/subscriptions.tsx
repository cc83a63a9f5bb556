import { useState } from 'preact/hooks';
import type { SubscriptionTargetInput } from '../../../../routes/subscriptions/new-subscription.js';
import type { NewSubscriptionJson, SubscriptionJson } from '../../../../routes/subscriptions/subscription-json.js';
import { Choice, List } from '../kit/list.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Badge, Time, Title } from '../kit/parts.js';
import { hereWith, hrefOf } from '../kit/place.js';
import { Account } from '../words/accounts.js';
import { attemptWords } from '../words/delivery-words.js';
import { SubscriptionForm } from './subscription-form.js';

/** Where events of the workspace are pushed to. */
export function Subscriptions({ api, session, query, live, keep }: PageProps) {
  const connection = query.get('connection_id');
  const [version, setVersion] = useState(0);
  const create = async (body: SubscriptionTargetInput) => {
    const { id, secret } = await api.send<NewSubscriptionJson>('POST', '/v1/subscriptions', body);
    const title = 'The signing secret of the new subscription';
    keep({ id, title, text: secret, what: 'the secret', ends: null });
    setVersion((n) => n + 1);
  };
  return (
    <>
      <Title text="Subscriptions" />
      {may(session, 'events:write') && <NewSubscription create={create} />}
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
          Of the connection <Account {...{ api, session }} id={connection} /> ·{' '}
          <a href={hereWith({ connection_id: null })}>Show all</a>
        </p>
      )}
      <List<SubscriptionJson>
        {...{ api, query, live, version }}
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
            cell: (row) => <Whose {...{ api, session }} of={row} />,
          },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty="No subscription is like this."
      />
    </>
  );
}

/** Makes one of all connections of the workspace. */
function NewSubscription({ create }: { create: (body: SubscriptionTargetInput) => Promise<void> }) {
  const [open, setOpen] = useState(false);
  if (!open) {
    return (
      <p>
        <button type="button" class="main" onClick={() => setOpen(true)}>
          Subscribe to all connections
        </button>
      </p>
    );
  }
  return <SubscriptionForm label="A new subscription" submit="Subscribe" send={create} done={() => setOpen(false)} />;
}

/** Whether it gets events, whether it is on hold, whether its address is proven, and whether its receiver answers. */
export function SubscriptionState({ of: { active, on_hold, settling, verified, paused } }: { of: SubscriptionJson }) {
  return (
    <span class="badges">
      {active ? <Badge tone="good" text="Active" /> : <Badge tone="quiet" text="Inactive" />}
      {on_hold && <Badge tone="quiet" text="On hold" />}
      {settling && (
        <span title="Its last change has not come to every connection.">
          <Badge tone="busy" text="Settling" />
        </span>
      )}
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

/** The connection whose events it gets. */
export function Whose({
  api,
  session,
  of: { connection_id: id },
}: Pick<PageProps, 'api' | 'session'> & { of: SubscriptionJson }) {
  return id === null ? <span>All of the workspace</span> : <Account {...{ api, session, id }} />;
}
