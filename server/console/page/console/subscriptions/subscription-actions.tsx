import { useState } from 'preact/hooks';
import type { DeliveryJson, ReplayedJson } from '../../../../routes/subscriptions/deliveries.js';
import type { SubscriptionTargetInput } from '../../../../routes/subscriptions/new-subscription.js';
import type { SubscriptionDetailJson } from '../../../../routes/subscriptions/subscription-json.js';
import type { Api } from '../kit/api.js';
import { Action } from '../kit/parts.js';
import { hrefOf } from '../kit/place.js';
import { SubscriptionForm } from './subscription-form.js';

interface ActionsProps {
  api: Api;
  subscription: SubscriptionDetailJson;
  /** Something about the subscription is another than it was. */
  changed: () => void;
}

/** What can be done with a subscription. What came of it is told beside the buttons. */
export function SubscriptionActions({ api, subscription, changed }: ActionsProps) {
  const { id, active, on_hold, delivery_counts } = subscription;
  const [done, tell] = useState<{ text: string; delivery?: string } | null>(null);
  const [changing, setChanging] = useState(false);
  const path = `/v1/subscriptions/${id}`;
  const act = async (work: () => Promise<{ text: string; delivery?: string }>) => {
    tell(null);
    tell(await work());
    changed();
  };
  const test = () =>
    act(async () => {
      const { id: delivery } = await api.send<DeliveryJson>('POST', `${path}/test`);
      return { text: 'A test event is on its way.', delivery };
    });
  const change = (wanted: boolean) =>
    act(async () => {
      await api.send('PATCH', path, { active: wanted });
      return { text: wanted ? 'It gets events from now on.' : 'It gets no more events.' };
    });
  const hold = (wanted: boolean) =>
    act(async () => {
      await api.send('POST', `${path}/${wanted ? 'hold' : 'release'}`);
      return { text: wanted ? 'Its deliveries wait until it is released.' : 'What waited is on its way.' };
    });
  const move = (body: SubscriptionTargetInput) =>
    act(async () => {
      await api.send('PUT', path, body);
      return { text: 'It is changed.' };
    });
  const remove = async () => {
    await api.send('DELETE', path);
    location.hash = hrefOf('subscriptions');
  };
  const replay = (since: string) =>
    act(async () => {
      const { replayed } = await api.send<ReplayedJson>('POST', `${path}/replay-failed`, { since });
      return { text: replayed === 1 ? '1 delivery is tried again.' : `${replayed} deliveries are tried again.` };
    });
  return (
    <section aria-label="Actions">
      <div class="actions">
        {active && <Action label="Send a test event" done="" run={test} />}
        {active && delivery_counts.failed > 0 && <ReplayFailed replay={replay} />}
        {on_hold ? (
          <Action key="release" label="Release" main done="" run={() => hold(false)} />
        ) : (
          active && <Action key="hold" label="Hold" done="" run={() => hold(true)} />
        )}
        {active ? (
          <Action
            key="deactivate"
            label="Deactivate"
            done=""
            confirm="What waits to be delivered is canceled, and new events do not go to this address."
            run={() => change(false)}
          />
        ) : (
          <Action key="activate" label="Activate" main done="" run={() => change(true)} />
        )}
        {!changing && (
          <button type="button" onClick={() => setChanging(true)}>
            Change
          </button>
        )}
        <Action
          label="Delete"
          confirm="It is deleted with its deliveries, and nothing more is sent to this address for it. The events stay."
          run={remove}
        />
      </div>
      {changing && (
        <SubscriptionForm
          label="Change of the subscription"
          submit="Change it"
          of={subscription}
          send={move}
          done={() => setChanging(false)}
        />
      )}
      <p class="told" role="status">
        {done?.text} {done?.delivery && <a href={hrefOf(`deliveries/${done.delivery}`)}>Open it</a>}
      </p>
    </section>
  );
}

/** How far back, in milliseconds; null: however long ago. */
const SPANS: readonly (readonly [words: string, ms: number | null])[] = [
  ['of the last hour', 3_600_000],
  ['of the last day', 86_400_000],
  ['of the last week', 7 * 86_400_000],
  ['of all time', null],
];

function ReplayFailed({ replay }: { replay: (since: string) => Promise<void> }) {
  const [chosen, choose] = useState(SPANS.length - 1);
  const since = () => {
    const ms = SPANS[chosen]?.[1] ?? null;
    return new Date(ms === null ? 0 : Date.now() - ms).toISOString();
  };
  return (
    <div class="joined">
      <select
        aria-label="Which failed deliveries"
        value={chosen}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        {SPANS.map(([words], i) => (
          <option key={words} value={i}>
            {words}
          </option>
        ))}
      </select>
      <Action label="Replay all failed" done="" run={() => replay(since())} />
    </div>
  );
}
