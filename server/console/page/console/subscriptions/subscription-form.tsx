import '../kit/forms.css';
import { useState } from 'preact/hooks';
import type { EventType } from '../../../../../storage/model/records.js';
import type { SubscriptionTargetInput } from '../../../../routes/subscriptions/new-subscription.js';
import { ApiError } from '../kit/api.js';
import { Problem } from '../kit/parts.js';

/** What each type of event tells. */
const TYPES: Readonly<Record<EventType, string>> = {
  message_received: 'a message came in',
  message_sent: 'the account sent one',
  sponsored_inmail_received: 'an advertisement came in',
  custom_connection_request_accepted: 'an invitation seems to be accepted',
  'connection.stream_degraded': 'the event stream was interrupted',
  'connection.stream_restored': 'it runs again',
  'connection.needs_login': 'a connection has to log in',
  'connection.invalid': 'its credentials are refused',
  'connection.ready': 'it is ready',
  'operation.waiting_user': 'an operation waits for its user',
  'operation.finished': 'one has ended',
  'delivery.exhausted': 'a delivery failed for the last time',
};

const NO_TYPE = new ApiError(400, 'validation_error', 'Choose which events are sent.', []);

interface SubscriptionFormProps {
  label: string;
  submit: string;
  /** What it gets, and where, so far. */
  of?: SubscriptionTargetInput;
  send: (body: SubscriptionTargetInput) => Promise<void>;
  /** It was sent, or is not to be. */
  done: () => void;
}

/** Which events a subscription gets, and where. */
export function SubscriptionForm({ label, submit, of, send, done }: SubscriptionFormProps) {
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const sent = async (event: SubmitEvent) => {
    event.preventDefault();
    if (sending) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const event_types = form.getAll('event_types') as EventType[];
    setError(event_types.length > 0 ? null : NO_TYPE);
    if (event_types.length === 0) return;
    setSending(true);
    try {
      await send({ event_types, callback_url: String(form.get('callback_url') ?? '').trim() });
      done();
    } catch (failure) {
      setError(failure);
    }
    setSending(false);
  };
  return (
    <form class="card form" aria-label={label} onSubmit={sent}>
      <label>
        Address
        <input
          name="callback_url"
          inputMode="url"
          autocomplete="off"
          spellcheck={false}
          defaultValue={of?.callback_url ?? ''}
        />
        <small class="quiet">Public HTTPS, without a query.</small>
      </label>
      <fieldset>
        <legend>Which events are sent</legend>
        {Object.entries(TYPES).map(([type, words]) => (
          <label key={type} class="check">
            <input
              type="checkbox"
              name="event_types"
              value={type}
              defaultChecked={of?.event_types.includes(type as EventType) ?? false}
            />
            <span>
              {type} <span class="quiet">{words}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Problem error={error} />
      <div class="actions">
        <button type="submit" class="main" aria-disabled={sending}>
          {submit}
        </button>
        <button type="button" onClick={done}>
          Go back
        </button>
      </div>
    </form>
  );
}
