import type { LimitJson, LimitsJson } from '../../../../routes/operator/limits.js';
import { useLoaded } from '../kit/loaded.js';
import type { PageProps } from '../kit/page-props.js';
import { Badge, Facts, Problem } from '../kit/parts.js';

const NAMES: Readonly<Record<keyof LimitsJson, string>> = {
  requests_per_second: 'Requests a second',
  submissions_per_second: 'Submissions a second',
  connections: 'Connections',
  subscriptions: 'Subscriptions',
  stored_mib: 'MiB that operations take',
};

/** What the workspace may have, and what it has; nothing where no limit applies. */
export function Limits({ api, live }: Pick<PageProps, 'api' | 'live'>) {
  const { value, error, again } = useLoaded(() => api.get<LimitsJson>('/v1/limits'), [api], live, 'overview');
  const limits = Object.entries(NAMES).flatMap(([name, words]) => {
    const limit = value?.[name as keyof LimitsJson];
    return limit ? [[words, <Use key={name} {...limit} />] as const] : [];
  });
  if (limits.length === 0 && !error) return null;
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">Limits</h2>
      <Problem error={error} again={again} />
      <Facts rows={limits} />
    </section>
  );
}

function Use({ limit, used }: LimitJson) {
  return (
    <span class="badges">
      {NUMBER.format(used)} of {NUMBER.format(limit)} {used >= limit && <Badge tone="bad" text="Used up" />}
    </span>
  );
}

const NUMBER = new Intl.NumberFormat('en');
