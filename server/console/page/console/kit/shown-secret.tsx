import { useEffect, useRef, useState } from 'preact/hooks';
import { Action, Copy, Time } from './parts.js';

/** A secret that was just made: it is in this page, and nowhere else. */
export interface Secret {
  /** Of what it is the secret. */
  id: string;
  title: string;
  text: string;
  /** What is copied. */
  what: string;
  /** When what it is the secret of ends, where it does. */
  ends: string | null;
}

/** The secrets that nobody has put away yet, over all pages: another page, or another secret, takes none of them away. */
export function useSecrets() {
  const [kept, set] = useState<readonly Secret[]>([]);
  const keep = (secret: Secret) => set((were) => [secret, ...were]);
  const putAway = (id: string) => set((were) => were.filter((one) => one.id !== id));
  return { kept, keep, putAway };
}

/** Shows one until it is put away; leaving the console before that is asked about. */
export function ShownSecret({ secret, putAway }: { secret: Secret; putAway: (id: string) => void }) {
  const { id, title, text, what, ends } = secret;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    const leaving = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', leaving);
    return () => removeEventListener('beforeunload', leaving);
  }, []);
  return (
    <section class="card secret" aria-labelledby={`secret-${id}`}>
      <h2 id={`secret-${id}`} ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>
        Store it now: it is shown here once, and can never be read again.
        {ends !== null && (
          <>
            {' '}
            It expires <Time at={ends} />.
          </>
        )}
      </p>
      <p>
        <code>{text}</code> <Copy text={text} what={what} />
      </p>
      <Action label="I have stored it" main done="" run={async () => putAway(id)} />
    </section>
  );
}
