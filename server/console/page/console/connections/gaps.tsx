import type { ConnectionJson } from '../../../../routes/connections/connection-json.js';
import type { GapJson, ListenerJson } from '../../../../routes/connections/listener.js';
import { Time } from '../kit/parts.js';
import { exactly, lasting } from '../kit/times.js';
import { spoken } from '../words/operation-words.js';

const DAY_ms = 86_400_000;
/** Of the width: a short gap is still seen. */
const LEAST_percent = 0.5;
/** As many as an answer holds: with so many there may be earlier ones. */
const LISTED_gaps = 50;

interface GapsProps {
  listener: ListenerJson;
  connection: ConnectionJson;
}

/** A stretch of the line, in milliseconds since 1970. */
type Stretch = readonly [from_ms: number, to_ms: number];

/** The last day, or since the oldest gap or the creation, and within it the time of which nobody knows whether the stream was whole. */
function lineOf({ gaps, last_frame_at, last_confirmed_at }: ListenerJson, connection: ConnectionJson, now: number) {
  const oldest = Math.min(now, ...gaps.map(({ started_at }) => Date.parse(started_at)));
  const from = Math.min(Math.max(now - DAY_ms, Date.parse(connection.created_at)), oldest);
  const open = gaps.some(({ closed_at }) => closed_at === null);
  const confirmed = last_confirmed_at === null ? from : Date.parse(last_confirmed_at);
  const unknown: Stretch[] = [];
  if (last_frame_at === null) unknown.push([from, now]);
  else if (gaps.length >= LISTED_gaps) unknown.push([from, oldest]);
  else if (firstLogin(connection) > from) unknown.push([from, Math.min(firstLogin(connection), oldest)]);
  // An open gap reaches until now, and a stream that is there shows it every few seconds.
  if (last_frame_at !== null && !open && now - confirmed > SILENT_ms) unknown.push([confirmed, now]);
  return { from, unknown };
}

/** Before it there was no stream. That is known of the session of the first login alone; of others, the beginning of time. */
const firstLogin = ({ state_revision, health_reason, health_since }: ConnectionJson): number =>
  state_revision === 1 && health_reason === 'login_succeeded' && health_since !== null ? Date.parse(health_since) : 0;

/** A listener that says nothing for so long is gone. */
const SILENT_ms = 60_000;

/** The gaps on a line of time, and below it in words. */
export function Gaps({ listener, connection }: GapsProps) {
  const { gaps } = listener;
  const now = Date.now();
  const { from, unknown } = lineOf(listener, connection, now);
  const placed = ([from_ms, to_ms]: Stretch, least = 0) => {
    const width = Math.max((100 * (to_ms - from_ms)) / (now - from), least);
    const x = Math.min((100 * (from_ms - from)) / (now - from), 100 - width);
    return { x: `${x}%`, width: `${width}%` };
  };
  const span = ({ started_at, closed_at }: GapJson): Stretch => [
    Date.parse(started_at),
    closed_at ? Date.parse(closed_at) : now,
  ];
  const partly = unknown.length > 0 ? ', partly not known' : '';
  return (
    <>
      <div class="line">
        <svg role="img" aria-label={`${gaps.length} gaps since ${exactly(new Date(from).toISOString())}${partly}`}>
          <rect class="whole" x="0" y="6" width="100%" height="12" />
          {unknown.map((one) => (
            <rect key={one[0]} class="unknown" y="6" height="12" {...placed(one)} />
          ))}
          {gaps.map((gap) => (
            <rect key={gap.id} class="gap" y="0" height="24" {...placed(span(gap), LEAST_percent)} />
          ))}
        </svg>
        <p class="ends quiet" aria-hidden="true">
          <span>{exactly(new Date(from).toISOString())}</span>
          <span>now</span>
        </p>
        <p class="tones" aria-hidden="true">
          <span class="good">No gap is recorded</span>
          <span class="bad">Gap</span>
          {unknown.length > 0 && <span class="unknown">Not known</span>}
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
