import './attention.css';
import type {
  AttentionEntryJson,
  AttentionGroupJson,
  AttentionJson,
  AttentionKind,
} from '../../../../routes/operator/attention.js';
import { useLoaded } from '../kit/loaded.js';
import type { PageProps } from '../kit/page-props.js';
import { Badge, Empty, Id, Problem, Time, type Tone } from '../kit/parts.js';
import { hrefOf } from '../kit/place.js';
import { AccountName } from '../words/accounts.js';

const TITLES: Readonly<Record<AttentionKind, string>> = {
  outcome_unknown: 'Unknown outcomes',
  operation_waiting: 'Operations that need action',
  connection_unready: 'Connections that are not ready',
  deliveries_exhausted: 'Deliveries that were given up',
  destination_paused: 'Destinations that do not answer',
  subscription_held: 'Subscriptions on hold for a day and longer',
  key_expiring: 'Keys that expire soon',
  partition_unowned: 'Partitions that nobody runs',
  node_silent: 'Nodes that are silent',
  proxy_failing: 'Proxies that fail',
  proxy_unused: 'Proxies that nobody uses',
};

const SEVERITIES: Readonly<Record<AttentionGroupJson['severity'], readonly [Tone, string]>> = {
  critical: ['bad', 'Critical'],
  warning: ['wait', 'Warning'],
  notice: ['quiet', 'Notice'],
};

const SHOWN_AT_ONCE = 5;

/** What needs somebody now, the worst first. */
export function Attention({ api, live, path }: Pick<PageProps, 'api' | 'live'> & { path: string }) {
  const { value, error, again } = useLoaded(() => api.get<AttentionJson>(path), [api, path], live, 'attention');
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">What needs attention</h2>
      <Problem error={error} again={again} />
      {value?.attention.map((kind) => (
        <Kind key={kind.kind} {...{ api }} of={kind} />
      ))}
      {value?.attention.length === 0 && <Empty text="Nothing needs anybody now." />}
      {!value && !error && <Empty text="Loading" />}
    </section>
  );
}

function Kind({
  api,
  of: { kind, severity, count, more, entries },
}: Pick<PageProps, 'api'> & { of: AttentionGroupJson }) {
  const [tone, word] = SEVERITIES[severity];
  const rest = entries.slice(SHOWN_AT_ONCE);
  const unseen = count - entries.length;
  return (
    <section class={`attention card ${severity}`} aria-label={TITLES[kind]}>
      <h3>
        {TITLES[kind]} <Badge tone={tone} text={word} />{' '}
        <span class="quiet">{more ? `more than ${count}` : count}</span>
      </h3>
      <Entries {...{ api }} entries={entries.slice(0, SHOWN_AT_ONCE)} />
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more</summary>
          <Entries {...{ api }} entries={rest} />
          {unseen > 0 && <p class="quiet">These are the ones that wait the longest.</p>}
        </details>
      )}
    </section>
  );
}

function Entries({ api, entries }: Pick<PageProps, 'api'> & { entries: readonly AttentionEntryJson[] }) {
  return (
    <ul>
      {entries.map(({ id, name, connection_id, cause, since, path }) => (
        <li key={id}>
          <a href={hrefOf(path.replace(/^\/v1\/(operator\/)?/, ''))}>
            {connection_id ? <AccountName {...{ api }} id={connection_id} /> : (name ?? `…${id.slice(-8)}`)}
          </a>
          <span class="cause">{cause}</span>
          <span class="quiet">{since && <Time at={since} />}</span>
          <Id id={id} />
        </li>
      ))}
    </ul>
  );
}
