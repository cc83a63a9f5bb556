import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { announce } from './announced.js';
import { Problem } from './problem.js';

interface ActionProps {
  label: string;
  /** What cannot be undone, in words: it is asked before. */
  confirm?: string;
  /** The one that most come for. */
  main?: boolean;
  /** It is not to be done now, which the page explains. */
  held?: boolean;
  /** What is announced when it is done; empty where the page tells of it by itself. */
  done?: string;
  run(): Promise<unknown>;
}

/** A button that does something at the service: once at a time, after a question where that cannot be undone, and it tells why not. */
export function Action({ label, confirm, main, held = false, done = `${label}: done.`, run }: ActionProps) {
  const [running, setRunning] = useState(false);
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => () => leave(button.current), []); // while it is still there
  const act = async () => {
    setRunning(true);
    setError(null);
    await run().then(() => announce(done), setError);
    setRunning(false);
  };
  const rests = running || held;
  return (
    <div class="action">
      <button
        ref={button}
        type="button"
        class={confirm ? 'danger' : main ? 'main' : ''}
        // Not `disabled`: that would take the keyboard's place away.
        aria-disabled={rests}
        onClick={() => !rests && (confirm ? setAsking(true) : act())}
      >
        {label}
        {running && <span class="spinner" role="status" aria-label="Working" />}
      </button>
      {asking && confirm && (
        <Ask
          text={confirm}
          label={label}
          answered={(yes) => {
            setAsking(false);
            if (yes) void act();
          }}
        />
      )}
      <Problem error={error} />
    </div>
  );
}

/** A button that goes away while the keyboard is at it, because what it does is done, leaves its place to the heading of the page. */
function leave(button: HTMLButtonElement | null): void {
  if (button !== null && button === document.activeElement) document.querySelector('h1')?.focus();
}

const YES = 'yes';

/** It is closed before it goes away, because that gives the keyboard its place back. */
function Ask({ text, label, answered }: { text: string; label: string; answered: (yes: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={() => answered(dialog.current?.returnValue === YES)} aria-label={label}>
      <p>{text}</p>
      <div class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Go back
        </button>
        <button type="button" class="danger" onClick={() => dialog.current?.close(YES)}>
          {label}
        </button>
      </div>
    </dialog>
  );
}
