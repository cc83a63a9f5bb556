import type { KeyJson } from '../../../../routes/operator/keys.js';
import type { NewKeyJson } from '../../../../routes/operator/operator-keys.js';
import type { Api } from '../kit/api.js';
import { Action } from '../kit/parts.js';
import { keyState } from './key-state.js';

interface KeyActionsProps {
  api: Api;
  of: KeyJson;
  /** The keys are others than they were; with one that was made. */
  changed: (made: NewKeyJson | null) => void;
}

/** How long a key works beside its successor, unless that is said. */
const OVERLAP_ms = 86_400_000;

/** What operators do with a key that works. One that ends before the overlap, as one that was rotated does, has no successor: it would end with it. */
export function KeyActions({ api, of, changed }: KeyActionsProps) {
  const state = keyState(of, 0);
  if (state === 'revoked' || state === 'expired') return null;
  const path = `/v1/operator/keys/${of.id}`;
  const what = of.name ?? of.prefix ?? of.id;
  const ending = of.expires_at !== null && Date.parse(of.expires_at) < Date.now() + OVERLAP_ms;
  return (
    <div class="actions">
      {!ending && (
        <Action
          label="Rotate"
          confirm={`A new key takes the place of ${what}, which goes on to work for a day, and then never again.`}
          run={async () => changed(await api.send<NewKeyJson>('POST', `${path}/rotate`, {}))}
        />
      )}
      <Action
        label="Revoke"
        confirm={`${what} stops working at once, with the sessions that began with it. That cannot be undone.`}
        run={async () => {
          await api.send('POST', `${path}/revoke`);
          changed(null);
        }}
      />
    </div>
  );
}
