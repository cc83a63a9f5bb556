import './pictures.css';
import type { OperationJson } from '../../../routes/operation-json.js';
import type { AttemptJson, TransitionJson } from '../../../routes/operation-parts.js';
import { ATTEMPTS, isOver, PHASES, STATUSES, spoken } from './operation-words.js';
import { Badge, Time } from './parts.js';
import { lasting } from './times.js';

/** A part of the picture. */
interface Span {
  tone: string;
  from_ms: number;
  to_ms: number;
  words: string;
}

/** Of the width: what took no time is still seen. */
const LEAST_percent = 0.6;

/** How an operation went, on a line of time: its status, then each attempt with its write boundary. The same stands in two tables. */
export function OperationPicture({ operation }: { operation: OperationJson }) {
  const { timeline, attempts, status } = operation;
  // Attempts have the time of their node, which may be before that of the database.
  const begins = [...timeline.map(({ at }) => at), ...attempts.map(({ started_at }) => started_at)];
  const from = Math.min(...[operation.created_at, ...begins].map((at) => Date.parse(at)));
  const ends = [...timeline.map(({ at }) => at), ...attempts.map(({ completed_at }) => completed_at)];
  const to = isOver(status) ? Math.max(from + 1, ...ends.map((at) => (at ? Date.parse(at) : from))) : Date.now();
  const percent = (at_ms: number) => Math.min(100, Math.max(0, (100 * (at_ms - from)) / (to - from)));
  return (
    <>
      <h2>How it went</h2>
      <div class="lanes">
        <Lane label="Status" spans={statusSpans(timeline, to)} percent={percent} />
        {attempts.map((attempt) => (
          <Lane
            key={attempt.id}
            label={`Attempt ${attempt.number}`}
            spans={attemptSpans(attempt, to)}
            boundary={attempt.boundary_at}
            percent={percent}
          />
        ))}
        <p class="ends quiet">
          <span>0</span>
          <span>{lasting(to - from)}</span>
        </p>
      </div>
      <Legend boundary={attempts.some(({ boundary_at }) => boundary_at !== null)} />
      <Steps timeline={timeline} />
      {attempts.length > 0 && <Attempts attempts={attempts} />}
    </>
  );
}

function statusSpans(timeline: readonly TransitionJson[], end_ms: number): Span[] {
  return timeline.map(({ to, at }, i) => {
    const next = timeline[i + 1];
    const [tone, words] = STATUSES[to];
    return { tone, words, from_ms: Date.parse(at), to_ms: next ? Date.parse(next.at) : end_ms };
  });
}

/** What led up to the write boundary is no part of what came of it. */
function attemptSpans({ status, boundary_at, started_at, completed_at }: AttemptJson, end_ms: number): Span[] {
  const [tone, words] = ATTEMPTS[status];
  const from_ms = Date.parse(started_at);
  const to_ms = completed_at ? Date.parse(completed_at) : end_ms;
  if (!boundary_at) return [{ tone, words, from_ms, to_ms }];
  const boundary_ms = Date.parse(boundary_at);
  return [
    { tone: 'busy', words: 'Preparing', from_ms, to_ms: boundary_ms },
    { tone, words, from_ms: boundary_ms, to_ms },
  ];
}

const inWords = ({ words, from_ms, to_ms }: Omit<Span, 'tone'>) => `${words} ${lasting(to_ms - from_ms)}`;

/** So that a short one is not covered. */
const longestFirst = (a: Span, b: Span) => b.to_ms - b.from_ms - (a.to_ms - a.from_ms);

interface LaneProps {
  label: string;
  spans: readonly Span[];
  boundary?: string | null;
  percent(at_ms: number): number;
}

function Lane({ label, spans, boundary, percent }: LaneProps) {
  const at = boundary ? `${percent(Date.parse(boundary))}%` : null;
  return (
    <div class="lane">
      <span>{label}</span>
      <svg role="img" aria-label={spans.map(inWords).join(', ')}>
        <rect class="ground" width="100%" height="100%" />
        {spans.toSorted(longestFirst).map(({ tone, words, from_ms, to_ms }) => {
          const width = Math.max(percent(to_ms) - percent(from_ms), LEAST_percent);
          const x = Math.min(percent(from_ms), 100 - width);
          return (
            <rect key={`${from_ms} ${words}`} class={tone} x={`${x}%`} width={`${width}%`} height="100%">
              <title>{inWords({ words, from_ms, to_ms })}</title>
            </rect>
          );
        })}
        {at && <line class="boundary" x1={at} x2={at} y1="0" y2="100%" />}
      </svg>
    </div>
  );
}

function Legend({ boundary }: { boundary: boolean }) {
  return (
    <p class="tones" aria-hidden="true">
      <span class="quiet">Queued</span>
      <span class="busy">Running</span>
      <span class="wait">Waits, or unknown</span>
      <span class="good">Succeeded</span>
      <span class="bad">Failed</span>
      {boundary && <span class="boundary">Write boundary: from here on it is never tried again</span>}
    </p>
  );
}

function Steps({ timeline }: { timeline: readonly TransitionJson[] }) {
  return (
    <table>
      <caption>Changes of status</caption>
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Because</th>
          <th scope="col">When</th>
          <th scope="col">Lasted</th>
        </tr>
      </thead>
      <tbody>
        {timeline.map(({ to, reason, at }, i) => {
          const next = timeline[i + 1];
          const [tone, text] = STATUSES[to];
          return (
            <tr key={`${at} ${to} ${i}`}>
              <td data-title="Status">
                <Badge {...{ tone, text }} />
              </td>
              <td data-title="Because">{spoken(reason)}</td>
              <td data-title="When">
                <Time at={at} />
              </td>
              <td data-title="Lasted">
                {next ? lasting(Date.parse(next.at) - Date.parse(at)) : isOver(to) ? '' : 'until now'}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Attempts({ attempts }: { attempts: readonly AttemptJson[] }) {
  return (
    <table>
      <caption>Attempts</caption>
      <thead>
        <tr>
          <th scope="col">Attempt</th>
          <th scope="col">State</th>
          <th scope="col">Came to</th>
          <th scope="col">Write boundary</th>
          <th scope="col">Lasted</th>
        </tr>
      </thead>
      <tbody>
        {attempts.map(({ id, number, status, phase, boundary_at, started_at, completed_at }) => {
          const [tone, text] = ATTEMPTS[status];
          return (
            <tr key={id}>
              <td data-title="Attempt">{number}</td>
              <td data-title="State">
                <Badge {...{ tone, text }} />
              </td>
              <td data-title="Came to">{PHASES[phase]}</td>
              <td data-title="Write boundary">
                {boundary_at ? `after ${lasting(Date.parse(boundary_at) - Date.parse(started_at))}` : 'not passed'}
              </td>
              <td data-title="Lasted">
                {completed_at ? lasting(Date.parse(completed_at) - Date.parse(started_at)) : 'until now'}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
