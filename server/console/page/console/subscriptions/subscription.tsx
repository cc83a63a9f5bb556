import './deliveries.css';
import { useState } from 'preact/hooks';
import type { SubscriptionDetailJson } from '../../../../routes/subscriptions/subscription-json.js';
import { useLoaded } from '../kit/loaded.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Empty, Facts, Id, Problem, Time, Title } from '../kit/parts.js';
import { attemptWords } from '../words/delivery-words.js';
import { DeliveryList } from './delivery-list.js';
import { SubscriptionActions } from './subscription-actions.js';
import { SubscriptionState, Whose } from './subscriptions.js';

/** One subscription, what can be done with it, and its deliveries. */
export function Subscription(props: PageProps) {
  const { api, session, id, live } = props;
  const [version, setVersion] = useState(0);
  const changed = () => setVersion((n) => n + 1);
  const path = `/v1/subscriptions/${id}`;
  const load = () => api.get<SubscriptionDetailJson>(path);
  const { value, error, again } = useLoaded(load, [api, path, version], live, 'subscriptions');
  return (
    <>
      <Title text="Subscription">{value && <SubscriptionState of={value} />}</Title>
      <Problem error={error} again={again} />
      {!value && !error && <Empty text="Loading" />}
      {value && (
        <>
          {value.paused && (
            <div class="problem" role="status">
              <p>
                Its deliveries wait since <Time at={value.paused.since} />: {attemptWords(value.paused.reason)} One is
                tried now and then.
              </p>
            </div>
          )}
          <Facts
            rows={[
              ['Address', value.callback_url],
              ['Events', value.event_types.join(', ')],
              ['Proven by its answer to a challenge', value.verified ? 'yes' : 'no'],
              ['Connection', <Whose key="connection" {...{ api, session }} of={value} />],
              ['Created', <Time key="created" at={value.created_at} />],
              ['Id', <Id key="id" id={value.id} />],
            ]}
          />
          {may(session, 'events:write') && <SubscriptionActions {...{ api, changed }} subscription={value} />}
          <DeliveryList {...props} {...{ version, changed }} path={path} counts={value.delivery_counts} />
        </>
      )}
    </>
  );
}
