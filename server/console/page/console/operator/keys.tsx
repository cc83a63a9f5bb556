import { useState } from 'preact/hooks';
import type { KeyJson } from '../../../../routes/operator/keys.js';
import type { NewKeyJson } from '../../../../routes/operator/operator-keys.js';
import { List } from '../kit/list.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Badge, Time, Title } from '../kit/parts.js';
import type { Column } from '../kit/table.js';
import { KeyActions } from './key-actions.js';
import { KeyForm } from './key-form.js';
import { keyState } from './key-state.js';

/** The keys of the workspace; operators make, rotate and revoke them. */
export function Keys({ api, session, query, live, keep }: PageProps) {
  const [version, setVersion] = useState(0);
  const changed = (key: NewKeyJson | null) => {
    setVersion((n) => n + 1);
    if (!key) return;
    const title = key.name === null ? 'The new key' : `The new key ${key.name}`;
    keep({ id: key.id, title, text: key.key, what: 'the key', ends: key.expires_at });
  };
  const operator = may(session, 'operator');
  const columns = columnsOf(session.key_warning_days);
  if (operator) columns.push({ title: 'Actions', cell: (key) => <KeyActions {...{ api, changed }} of={key} /> });
  return (
    <>
      <Title text="Keys" />
      {operator && api.workspace !== null && <KeyForm {...{ api, changed }} workspace={api.workspace} />}
      <List<KeyJson>
        {...{ api, query, live, version, columns }}
        label="keys"
        path="/v1/keys"
        field="keys"
        topic="keys"
        keyOf={({ id }) => id}
        empty="There is no key yet."
      />
    </>
  );
}

const columnsOf = (warning_days: number): Column<KeyJson>[] => [
  { title: 'Key', cell: (key) => <Name of={key} /> },
  { title: 'State', cell: (key) => <State of={key} warning_days={warning_days} /> },
  { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
  { title: 'Networks', cell: ({ networks }) => networks?.join(', ') ?? <span class="quiet short">anywhere</span> },
  { title: 'Last used', cell: (key) => <LastUse of={key} /> },
  { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
];

function Name({ of: { name, prefix, current } }: { of: KeyJson }) {
  return (
    <span class="stacked">
      <span>
        {name ?? <span class="quiet">without a name</span>} {current && <span class="quiet">(your own)</span>}
      </span>
      {prefix && <code class="short">{prefix}…</code>}
    </span>
  );
}

function State({ of, warning_days }: { of: KeyJson; warning_days: number }) {
  switch (keyState(of, warning_days)) {
    case 'active':
      return <Badge tone="good" text="Active" />;
    case 'expires soon':
      return <Badge tone="wait" text="Expires soon" />;
    case 'expired':
      return <Badge tone="quiet" text="Expired" />;
    case 'revoked':
      return (
        <span class="stacked">
          <Badge tone="bad" text="Revoked" />
          <Time at={of.revoked_at} />
        </span>
      );
  }
}

function LastUse({ of: { last_used_at, last_used_from } }: { of: KeyJson }) {
  return (
    <span class="stacked">
      <Time at={last_used_at} />
      {last_used_from && <span class="quiet short">from {last_used_from}</span>}
    </span>
  );
}
