import { counterBy, type GaugeValue, type MetricsSource, ofHosts, type ThreadMetric } from './metric.js';

/** Connections and the streams of the provider's events. */
export const CONNECTION_METRICS: readonly ThreadMetric[] = [
  {
    name: 'connections',
    type: 'gauge',
    labels: ['provider', 'health'],
    meaning: 'Connections by provider and health, in the partitions of this node',
    bad: '`needs_login` or `invalid` of `social` rising at once: the provider ends sessions, or restricts accounts.',
    read: connectionsByHealth,
  },
  ofHosts(
    {
      name: 'listeners',
      meaning: 'Listeners of `social` connections that are ready, connected or not',
      bad: 'Below the ready connections for minutes: nobody hears their events.',
    },
    (host) => host.listeners,
  ),
  ofHosts(
    {
      name: 'listener_gaps_open',
      meaning: 'Gaps of streams that are open, in the partitions of this node',
      bad: 'Growth: events of those connections are being missed.',
    },
    (host) => host.measured?.open_gaps ?? 0,
  ),
  counterBy(
    'reason',
    {
      name: 'listener_gaps_opened_total',
      meaning: 'Gaps of streams that were opened, by reason',
      bad: '`stream_silent` or `stream_connection_lost` in many at once: the way to the provider is down. `owner_changed` comes with restarts.',
    },
    (source) => source.stats().hosts.map((host) => host.gaps),
  ),
];

/** Nothing until every thread has read its part: half of them would look like a loss. */
function connectionsByHealth(source: MetricsSource): GaugeValue[] {
  const { hosts } = source.stats();
  if (hosts.some(({ measured }) => measured === undefined)) return [];
  const counts = new Map(KINDS.map((kind) => [`${kind.provider} ${kind.health}`, { labels: kind, value: 0 }]));
  for (const { measured } of hosts) {
    for (const { provider, health, count } of measured?.connections ?? []) {
      const counted = counts.get(`${provider} ${health}`);
      if (counted) counted.value += count;
    }
  }
  return [...counts.values()];
}

/** Every series from the start, so that the last connection to leave one counts as well. */
const KINDS = [
  { provider: 'social', health: 'ready' },
  { provider: 'social', health: 'needs_login' },
  { provider: 'social', health: 'invalid' },
  { provider: 'simulated', health: 'ready' },
  { provider: 'simulated', health: 'needs_login' },
];
