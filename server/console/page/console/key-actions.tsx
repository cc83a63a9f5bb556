import type { KeyJson } from '../../../routes/keys.js';
import type { NewKeyJson } from '../../../routes/operator-keys.js';
import type { Api } from './api.js';
import { keyState } from './key-state.js';
import { Action } from './parts.js';

interface KeyActionsProps {
  api: Api;
  of: KeyJson;
  /** The keys are others than they were; with one that was made. */
  changed: (made: NewKeyJson | null) => void;
}

/** What operators do with a key that works. */
export function KeyActions({ api, of, changed }: KeyActionsProps) {
  const state = keyState(of, 0);
  if (state === 'revoked' || state === 'expired') return null;
  const path = `/v1/operator/keys/${of.id}`;
  const what = of.name ?? of.prefix ?? of.id;
  return (
    <div class="actions">
      <Action
        label="Rotate"
        confirm={`A new key takes the place of ${what}, which goes on to work for a day, and then never again.`}
        run={async () => changed(await api.send<NewKeyJson>('POST', `${path}/rotate`, {}))}
      />
      <Action
        label="Revoke"
        confirm={`${what} ends to work at once, with the sessions that began with it. That cannot be undone.`}
        run={async () => {
          await api.send('POST', `${path}/revoke`);
          changed(null);
        }}
      />
    </div>
  );
}
