import type { ComponentChild } from 'preact';
import { useEffect } from 'preact/hooks';
import type { InstallationOverviewJson, OverviewJson } from '../../../routes/overview.js';
import { Attention } from './attention.js';
import { useLoaded } from './loaded.js';
import type { PageProps } from './page-props.js';
import { Empty, Problem, Title } from './parts.js';
import { Plot } from './plot.js';
import { lasting } from './times.js';

/** What needs somebody in the workspace, and what happened in the last hour. */
export function Overview({ api, live }: PageProps) {
  return (
    <>
      <Title text="Overview" />
      <Attention {...{ api, live }} path="/v1/attention" />
      <Hour<OverviewJson> {...{ api, live }} path="/v1/overview" plots={(hour) => <WorkPlots hour={hour} />} />
    </>
  );
}

/** The same of the whole installation, for operators. */
export function Installation({ api, live }: PageProps) {
  const plots = (hour: InstallationOverviewJson) => (
    <>
      <WorkPlots hour={hour} />
      <NodePlots hour={hour} />
    </>
  );
  return (
    <>
      <Title text="Installation" />
      <Attention {...{ api, live }} path="/v1/operator/attention" />
      <Hour<InstallationOverviewJson> {...{ api, live }} path="/v1/operator/overview" plots={plots} />
    </>
  );
}

interface HourProps<T> extends Pick<PageProps, 'api' | 'live'> {
  path: string;
  plots: (hour: T) => ComponentChild;
}

/** A step that has ended shows whatever is told: time alone moves the plots on. */
function Hour<T extends OverviewJson>({ api, live, path, plots }: HourProps<T>) {
  const { value, error, again } = useLoaded(() => api.get<T>(path), [api, path], live, NEVER);
  const step_s = value?.step_s;
  useEffect(() => {
    if (step_s === undefined) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && again(), step_s * 1000);
    return () => clearInterval(timer);
  }, [step_s, again]);
  return (
    <section aria-labelledby="hour">
      <h2 id="hour">The last hour</h2>
      <Problem error={error} again={again} />
      {!value && !error && <Empty text="Loading" />}
      {value && <div class="plots">{plots(value)}</div>}
    </section>
  );
}

/** A topic that nobody tells of. */
const NEVER = 'never';

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const newest = (values: readonly number[]) => values.at(-1) ?? null;
const counted = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1));

function WorkPlots({ hour }: { hour: OverviewJson }) {
  return (
    <>
      <Plot
        {...{ title: 'Operations', hour, show: counted, least: 4, whole: total }}
        lines={[
          { label: 'succeeded', tone: 'good', values: hour.succeeded },
          { label: 'failed', tone: 'bad', values: hour.failed },
          { label: 'unknown', tone: 'wait', values: hour.unknown },
          { label: 'canceled', tone: 'quiet', dashed: true, values: hour.canceled },
          { label: 'accepted', tone: 'busy', dashed: true, values: hour.accepted },
        ]}
      />
      <Plot
        {...{ title: 'From acceptance to the end', hour, show: lasting, least: 100, whole: newest }}
        lines={[
          { label: 'half within', tone: 'busy', values: hour.p50_ms },
          { label: '99 of 100 within', tone: 'wait', dashed: true, values: hour.p99_ms },
        ]}
      />
      <Plot
        {...{ title: 'Deliveries', hour, show: counted, least: 4, whole: total }}
        lines={[
          { label: 'made', tone: 'good', values: hour.delivered },
          { label: 'failed', tone: 'bad', dashed: true, values: hour.undelivered },
        ]}
      />
    </>
  );
}

function NodePlots({ hour }: { hour: InstallationOverviewJson }) {
  return (
    <>
      <Plot
        {...{ title: 'Waiting for their turn', hour, show: counted, least: 4, whole: newest }}
        lines={[{ label: 'operations', tone: 'busy', values: hour.queued }]}
      />
      <Plot
        {...{
          title: 'The oldest of them has waited',
          hour,
          show: (s: number) => lasting(1000 * s),
          least: 2,
          whole: newest,
        }}
        lines={[{ label: 'for', tone: 'wait', values: hour.oldest_queued_s }]}
      />
      <Plot
        {...{
          title: 'The database answers',
          hour,
          show: (ms: number) => `${ms.toFixed(1)} ms`,
          least: 2,
          whole: newest,
        }}
        lines={[{ label: 'within', tone: 'busy', values: hour.database_ms }]}
      />
      <Plot
        {...{ title: 'Pages in browsers', hour, show: counted, least: 4, whole: newest }}
        lines={[
          { label: 'open', tone: 'busy', values: hour.pages },
          { label: 'runs that wait', tone: 'wait', dashed: true, values: hour.runs_waiting },
        ]}
      />
      <Plot
        {...{ title: 'Threads', hour, show: counted, least: 4, whole: newest }}
        lines={[{ label: 'live', tone: 'busy', values: hour.threads }]}
      />
    </>
  );
}
