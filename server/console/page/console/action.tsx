import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from './problem.js';

interface ActionProps {
  label: string;
  /** What cannot be undone, in words: it is asked before. */
  confirm?: string;
  /** The one that most come for. */
  main?: boolean;
  run(): Promise<unknown>;
}

/** A button that does something at the service: once at a time, after a question where that cannot be undone, and it tells why not. */
export function Action({ label, confirm, main, run }: ActionProps) {
  const [running, setRunning] = useState(false);
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const act = async () => {
    setAsking(false);
    setRunning(true);
    setError(null);
    await run().catch(setError);
    setRunning(false);
  };
  return (
    <div class="action">
      <button
        type="button"
        class={confirm ? 'danger' : main ? 'main' : ''}
        // Not `disabled`: that would take the keyboard's place away.
        aria-disabled={running}
        onClick={() => !running && (confirm ? setAsking(true) : act())}
      >
        {label}
        {running && <span class="spinner" role="status" aria-label="Working" />}
      </button>
      {asking && confirm && <Ask text={confirm} label={label} yes={act} no={() => setAsking(false)} />}
      <Problem error={error} />
    </div>
  );
}

function Ask({ text, label, yes, no }: { text: string; label: string; yes: () => void; no: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={no} aria-label={label}>
      <p>{text}</p>
      <div class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Go back
        </button>
        <button type="button" class="danger" onClick={yes}>
          {label}
        </button>
      </div>
    </dialog>
  );
}
