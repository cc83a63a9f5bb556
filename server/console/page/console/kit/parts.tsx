import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ago, exactly } from './times.js';

export { Action } from './action.js';
export { Problem } from './problem.js';

export type Tone = 'good' | 'bad' | 'busy' | 'wait' | 'quiet';

/** The heading of a page: it names the tab, and is read out when one comes to the page. */
export function Title({ text, children }: { text: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${text} – Console`;
  }, [text]);
  useEffect(() => heading.current?.focus(), []);
  return (
    <div class="title">
      <h1 ref={heading} tabIndex={-1}>
        {text}
      </h1>
      {children}
    </div>
  );
}

/** A state, in words and in colour. */
export function Badge({ tone, text }: { tone: Tone; text: string }) {
  return <span class={`badge ${tone}`}>{text}</span>;
}

/** How long ago, and when exactly. */
export function Time({ at }: { at: string | null | undefined }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span class="quiet short">never</span>;
  return (
    <time dateTime={at} title={exactly(at)}>
      {ago(at)}
      <span class="unseen">, {exactly(at)}</span>
    </time>
  );
}

/** An id in short, with a button that copies all of it. */
export function Id({ id }: { id: string }) {
  return (
    <span class="id">
      <code title={id}>{id.slice(-8)}</code>
      <Copy text={id} what={`id ${id}`} />
    </span>
  );
}

/** Nothing where the browser lets no page copy: without TLS, from another machine. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false);
  if (!navigator.clipboard) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
  };
  return (
    <button type="button" class="copy" onClick={copy} onBlur={() => setDone(false)} aria-label={`Copy ${what}`}>
      <span role="status">{done ? 'Copied' : 'Copy'}</span>
    </button>
  );
}

/** Names and values, of which null ones are left out. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Empty({ text }: { text: string }) {
  return <p class="empty">{text}</p>;
}
