import '../kit/forms.css';
import { useState } from 'preact/hooks';
import type { Scope } from '../../../../../storage/model/records.js';
import type { NewKeyInput, NewKeyJson } from '../../../../routes/operator/operator-keys.js';
import { type Api, ApiError } from '../kit/api.js';
import { Problem } from '../kit/parts.js';

/** What each scope lets its key do. */
const SCOPES: Readonly<Record<Scope, string>> = {
  'connections:read': 'see connections',
  'connections:write': 'add, change and remove connections',
  'operations:read': 'see operations',
  'operations:write': 'submit and cancel operations',
  'events:read': 'see subscriptions, events and deliveries',
  'events:write': 'change subscriptions, replay deliveries',
  'social:send': 'send in the name of accounts',
};

const NO_SCOPE = new ApiError(400, 'validation_error', 'Choose what may be done with it.', []);

interface KeyFormProps {
  api: Api;
  workspace: string;
  changed: (made: NewKeyJson) => void;
}

/** Makes a key of the workspace. */
export function KeyForm({ api, workspace, changed }: KeyFormProps) {
  const [open, setOpen] = useState(false);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (sending) return;
    const input = inputOf(workspace, new FormData(event.currentTarget as HTMLFormElement));
    setError(input.scopes.length > 0 ? null : NO_SCOPE);
    if (input.scopes.length === 0) return;
    setSending(true);
    try {
      changed(await api.send<NewKeyJson>('POST', '/v1/operator/keys', input));
      setOpen(false);
    } catch (failure) {
      setError(failure);
    }
    setSending(false);
  };
  if (!open) {
    return (
      <p>
        <button type="button" class="main" onClick={() => setOpen(true)}>
          Make a key
        </button>
      </p>
    );
  }
  return (
    <form class="card form" aria-label="A new key" onSubmit={submit}>
      <div class="fields">
        <label>
          Name
          <input name="name" maxLength={255} autocomplete="off" />
        </label>
        <label>
          Networks
          <input name="networks" autocomplete="off" spellcheck={false} />
          <small class="quiet">Such as 10.0.0.0/8. Without one it works from anywhere.</small>
        </label>
        <label>
          Expires
          <input name="expires" type="datetime-local" />
          <small class="quiet">Without a time it never ends.</small>
        </label>
      </div>
      <fieldset>
        <legend>What may be done with it</legend>
        {Object.entries(SCOPES).map(([scope, words]) => (
          <label key={scope} class="check">
            <input type="checkbox" name="scopes" value={scope} />
            <span>
              {scope} <span class="quiet">{words}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Problem error={error} />
      <div class="actions">
        <button type="submit" class="main" aria-disabled={sending}>
          Make the key
        </button>
        <button type="button" onClick={() => setOpen(false)}>
          Go back
        </button>
      </div>
    </form>
  );
}

/** What was entered; the service says what is wrong with it. */
function inputOf(workspace_id: string, form: FormData): NewKeyInput {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const networks = text('networks')
    .split(/[\s,]+/)
    .filter((one) => one !== '');
  return {
    workspace_id,
    scopes: form.getAll('scopes') as Scope[],
    ...(text('name') !== '' && { name: text('name') }),
    ...(networks.length > 0 && { networks }),
    ...(text('expires') !== '' && { expires_at: new Date(text('expires')).toISOString() }),
  };
}
