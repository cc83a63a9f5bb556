import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { OpenedLinkJson } from '../../../routes/connections/reconnect.js';

/** The one card of the page; what it says first is read out when it changes. */
function Card({ title, children }: { title: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title;
    heading.current?.focus();
  }, [title]);
  return (
    <main class="card">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </main>
  );
}

/** Something is under way. */
export function Busy({ text, problem }: { text: string; problem?: string | null }) {
  return (
    <Card title="One moment">
      <p class="busy" role="status">
        <span class="spinner" aria-hidden="true" />
        {text}
      </p>
      <Problem text={problem ?? null} />
    </Card>
  );
}

/** The end, good or bad. */
export function Note({
  kind,
  title,
  text,
  again,
}: {
  kind: 'done' | 'stop';
  title: string;
  text: string;
  again?: () => void;
}) {
  return (
    <Card title={title}>
      <p class={`note ${kind}`} role="status">
        {text}
      </p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </Card>
  );
}

function Problem({ text }: { text: string | null }) {
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

/** A form with one field, which is sent once at a time. */
function useForm(give: (text: string) => Promise<void>) {
  const [sending, setSending] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (sending) return;
    const field = new FormData(event.currentTarget as HTMLFormElement).get('field');
    setSending(true);
    await give(typeof field === 'string' ? field : '');
    setSending(false);
  };
  return { sending, submit };
}

interface PasswordProps {
  opened: OpenedLinkJson;
  problem: string | null;
  left: number | null;
  until: string;
  give: (password: string | null) => Promise<void>;
}

export function AskPassword({ opened, problem, left, until, give }: PasswordProps) {
  const [visible, setVisible] = useState(false);
  const { needs_password } = opened;
  const { sending, submit } = useForm((password) => give(needs_password ? password : null));
  return (
    <Card title="Sign in again">
      <p>
        <strong>{opened.workspace}</strong> asks you to sign in to your account <strong>{opened.account}</strong> again.
        What you enter is stored encrypted, to sign in with: {opened.workspace} does not see it.
      </p>
      <form onSubmit={submit}>
        {needs_password && (
          <label>
            Password
            <span class="field">
              <input
                name="field"
                // The types know one kind of field at a time.
                type={(visible ? 'text' : 'password') as 'password'}
                autocomplete="current-password"
                required
                maxLength={1024}
                spellcheck={false}
              />
              <button type="button" class="plain" aria-pressed={visible} onClick={() => setVisible(!visible)}>
                {visible ? 'Hide' : 'Show'}
              </button>
            </span>
          </label>
        )}
        <Problem text={problem} />
        <button type="submit" disabled={sending}>
          {sending ? 'Signing in' : 'Sign in'}
        </button>
      </form>
      <p class="small">
        This link works until {until}.{left !== null && ` ${left} ${left === 1 ? 'try is' : 'tries are'} left.`}
      </p>
    </Card>
  );
}

interface CodeProps {
  text: string;
  until: string;
  problem: string | null;
  give: (code: string) => Promise<void>;
}

export function AskCode({ text, until, problem, give }: CodeProps) {
  const { sending, submit } = useForm((code) => give(code.trim()));
  return (
    <Card title="Enter the code">
      <p>{text}</p>
      <form onSubmit={submit}>
        <label>
          Code
          <span class="field">
            <input
              name="field"
              type="text"
              autocomplete="one-time-code"
              inputMode="numeric"
              required
              maxLength={32}
              spellcheck={false}
            />
          </span>
        </label>
        <Problem text={problem} />
        <button type="submit" disabled={sending}>
          {sending ? 'Sending' : 'Continue'}
        </button>
      </form>
      <p class="small">The code works until {until}.</p>
    </Card>
  );
}
