import type { ComponentChild } from 'preact';
import { useEffect } from 'preact/hooks';
import type { InstallationOverviewJson, OverviewJson } from '../../../../routes/operator/overview.js';
import { useLoaded } from '../kit/loaded.js';
import type { PageProps } from '../kit/page-props.js';
import { Empty, Problem, Title } from '../kit/parts.js';
import { Plot } from '../kit/plot.js';
import { lasting } from '../kit/times.js';
import { Attention } from './attention.js';
import { Limits } from './limits.js';

/** What needs somebody in the workspace, and what happened in the last hour. */
export function Overview({ api, live }: PageProps) {
  return (
    <>
      <Title text="Overview" />
      <Attention {...{ api, live }} path="/v1/attention" />
      <Hour<OverviewJson> {...{ api, live }} path="/v1/overview" plots={(hour) => <WorkPlots hour={hour} />} />
      <Limits {...{ api, live }} />
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

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const counted = (value: number) => NUMBER.format(value);
const rate = (value: number) => (value > 0 && value < 0.01 ? '<0.01/s' : `${NUMBER.format(value)}/s`);
const seconds = (value: number) => lasting(1000 * value);
const milliseconds = (value: number) => `${NUMBER.format(value)} ms`;

function WorkPlots({ hour }: { hour: OverviewJson }) {
  const { step_s, accepted, succeeded, failed, unknown, canceled, delivered, undelivered } = hour;
  const aSecond = (counts: readonly number[]) => counts.map((count) => count / step_s);
  const ends = succeeded.map((count, i) => count + (failed[i] ?? 0) + (unknown[i] ?? 0) + (canceled[i] ?? 0));
  return (
    <>
      <Plot
        {...{ title: 'Operations a second', hour, show: rate, least: 0.4 }}
        lines={[
          { label: 'accepted', tone: 'busy', dashed: true, values: aSecond(accepted) },
          { label: 'finished', tone: 'good', values: aSecond(ends) },
          { label: 'of them failed', tone: 'bad', values: aSecond(failed) },
          { label: 'of them unknown', tone: 'wait', values: aSecond(unknown) },
        ]}
      />
      <Plot
        {...{ title: 'Time from acceptance to the end', hour, show: lasting, least: 100, averaged: false }}
        lines={[
          { label: 'p50', tone: 'busy', values: hour.p50_ms },
          { label: 'p99', tone: 'wait', dashed: true, values: hour.p99_ms },
        ]}
      />
      <Plot
        {...{ title: 'Attempts of deliveries a second', hour, show: rate, least: 0.4 }}
        lines={[
          { label: 'delivered', tone: 'good', values: aSecond(delivered) },
          { label: 'failed', tone: 'bad', dashed: true, values: aSecond(undelivered) },
        ]}
      />
    </>
  );
}

function NodePlots({ hour }: { hour: InstallationOverviewJson }) {
  return (
    <>
      <Plot
        {...{ title: 'Operations that wait for their turn', hour, show: counted, least: 4 }}
        lines={[{ label: 'operations', tone: 'busy', values: hour.queued }]}
      />
      <Plot
        {...{ title: 'Time that the oldest of them has waited', hour, show: seconds, least: 2 }}
        lines={[{ label: 'waited', tone: 'wait', values: hour.oldest_queued_s }]}
      />
      <Plot
        {...{ title: 'Time in which the database answers', hour, show: milliseconds, least: 2 }}
        lines={[{ label: 'slowest node', tone: 'busy', values: hour.database_ms }]}
      />
      <Plot
        {...{ title: 'Pages in browsers', hour, show: counted, least: 4 }}
        lines={[
          { label: 'pages open', tone: 'busy', values: hour.pages },
          { label: 'runs that wait', tone: 'wait', dashed: true, values: hour.runs_waiting },
        ]}
      />
      <Plot
        {...{ title: 'Threads', hour, show: counted, least: 4 }}
        lines={[{ label: 'threads that live', tone: 'busy', values: hour.threads }]}
      />
    </>
  );
}
