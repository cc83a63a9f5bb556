import './pictures.css';
import type { GapJson, ListenerJson } from '../../../routes/listener.js';
import { CONTINUITY, STREAMS } from './connection-words.js';
import { useLoaded } from './loaded.js';
import { spoken } from './operation-words.js';
import type { PageProps } from './page-props.js';
import { Badge, Facts, Problem, Time } from './parts.js';
import { exactly, lasting } from './times.js';

/** How the event stream of a connection stands, and when it was interrupted. */
export function Listener({ api, id = '', live }: PageProps) {
  const load = () => api.get<ListenerJson>(`/v1/connections/${id}/listener`);
  const { value: listener, error, again } = useLoaded(load, [api, id], live, 'connections');
  if (!listener) return <Problem error={error} again={again} />;
  const [streamTone, stream] = STREAMS[listener.stream_status];
  const [tone, continuity] = CONTINUITY[listener.continuity_status];
  return (
    <>
      <h2>Event stream</h2>
      <Facts
        rows={[
          ['Stream', <Badge key="stream" tone={streamTone} text={stream} />],
          ['Continuity', <Badge key="continuity" tone={tone} text={continuity} />],
          ['Because', listener.reason && spoken(listener.reason)],
          ['Last heard from', <Time key="frame" at={listener.last_frame_at} />],
          ['Known to be whole', <Time key="confirmed" at={listener.last_confirmed_at} />],
          ['Last event', <Time key="event" at={listener.last_event_at} />],
        ]}
      />
      {listener.gaps.length > 0 && <Gaps gaps={listener.gaps} />}
    </>
  );
}

const DAY_ms = 86_400_000;
/** Of the width: a short gap is still seen. */
const LEAST_percent = 0.5;

/** The gaps on a line from the oldest one, or a day ago, until now; below it the same in words. */
function Gaps({ gaps }: { gaps: readonly GapJson[] }) {
  const now = Date.now();
  const begun = gaps.map(({ started_at }) => Date.parse(started_at));
  const from = Math.min(now - DAY_ms, ...begun);
  const percent = (ms: number) => (100 * ms) / (now - from);
  return (
    <>
      <div class="line">
        <svg role="img" aria-label={`${gaps.length} gaps since ${exactly(new Date(from).toISOString())}`}>
          <rect class="whole" x="0" y="6" width="100%" height="12" />
          {gaps.map(({ id, started_at, closed_at }) => {
            const width = Math.max(
              percent((closed_at ? Date.parse(closed_at) : now) - Date.parse(started_at)),
              LEAST_percent,
            );
            const x = Math.min(percent(Date.parse(started_at) - from), 100 - width);
            return <rect key={id} class="gap" x={`${x}%`} y="0" width={`${width}%`} height="24" />;
          })}
        </svg>
        <p class="ends quiet" aria-hidden="true">
          <span>{exactly(new Date(from).toISOString())}</span>
          <span>now</span>
        </p>
      </div>
      <table>
        <caption>Gaps</caption>
        <thead>
          <tr>
            <th scope="col">Began</th>
            <th scope="col">Lasted</th>
            <th scope="col">Because</th>
          </tr>
        </thead>
        <tbody>
          {gaps.map(({ id, started_at, closed_at, reason }) => (
            <tr key={id}>
              <td data-title="Began">
                <Time at={started_at} />
              </td>
              <td data-title="Lasted">
                {closed_at ? lasting(Date.parse(closed_at) - Date.parse(started_at)) : 'until now'}
              </td>
              <td data-title="Because">{spoken(reason)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
