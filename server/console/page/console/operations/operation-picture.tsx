import '../kit/pictures.css';
import type { OperationJson } from '../../../../routes/operations/operation-json.js';
import type { AttemptJson, TransitionJson } from '../../../../routes/operations/operation-parts.js';
import { lasting } from '../kit/times.js';
import { ATTEMPTS, isOver, STATUSES } from '../words/operation-words.js';
import { Attempts, Steps } from './operation-tables.js';

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
            told={toldOf(attempt, to)}
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

/** The phase that an attempt is in, or ended in. One that came to its end without a write boundary keeps no other. */
function phaseWords({ status, phase, boundary_at }: AttemptJson): string {
  switch (phase) {
    case 'preparing':
      return 'preparing';
    case 'reading':
      return 'reading';
    case 'dispatching':
      return status === 'running' ? 'sent' : 'sent, without an answer';
    case 'confirming':
      return 'sent, and answered without success';
    case 'done':
      return boundary_at ? 'sent, until it was confirmed' : 'ran';
    default:
      return phase satisfies never;
  }
}

/** The phases of an attempt, how long each lasted, and what came of it. */
function toldOf(attempt: AttemptJson, end_ms: number): string {
  const phases = attemptSpans(attempt, end_ms).map((span) => `${span.words} for ${lasting(span.to_ms - span.from_ms)}`);
  const end = attempt.status === 'running' ? 'so far' : ATTEMPTS[attempt.status][1].toLowerCase();
  const text = [...phases, end].join('; ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What led up to the write boundary is no part of what came of it. */
function attemptSpans(attempt: AttemptJson, end_ms: number): Span[] {
  const { status, boundary_at, started_at, completed_at } = attempt;
  const [tone] = ATTEMPTS[status];
  const words = phaseWords(attempt);
  const from_ms = Date.parse(started_at);
  const to_ms = completed_at ? Date.parse(completed_at) : end_ms;
  if (!boundary_at) return [{ tone, words, from_ms, to_ms }];
  const boundary_ms = Date.parse(boundary_at);
  return [
    { tone: 'busy', words: 'preparing', from_ms, to_ms: boundary_ms },
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
  /** The same in words, below it. */
  told?: string;
}

function Lane({ label, spans, boundary, percent, told }: LaneProps) {
  const at = boundary ? `${percent(Date.parse(boundary))}%` : null;
  return (
    <div class="lane">
      <span>{label}</span>
      <svg role="img" aria-label={told ?? spans.map(inWords).join(', ')}>
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
      {told && (
        <p class="quiet" aria-hidden="true">
          {told}
        </p>
      )}
    </div>
  );
}

function Legend({ boundary }: { boundary: boolean }) {
  return (
    <p class="tones" aria-hidden="true">
      <span class="quiet">Queued</span>
      <span class="busy">Running</span>
      <span class="wait">Needs action or unknown</span>
      <span class="good">Succeeded</span>
      <span class="bad">Failed</span>
      {boundary && <span class="boundary">Sent: from here on it is never tried again</span>}
    </p>
  );
}
