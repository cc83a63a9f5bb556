import { useEffect, useRef } from 'preact/hooks';
import { Copy } from './parts.js';

interface ShownSecretProps {
  title: string;
  secret: string;
  /** What is copied. */
  what: string;
  done: () => void;
}

/** A secret that was just made: it is here, and nowhere else, until it is put away. */
export function ShownSecret({ title, secret, what, done }: ShownSecretProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="card secret" aria-labelledby="secret">
      <h2 id="secret" ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <p>Store it now: it is shown here once, and can never be read again.</p>
      <p>
        <code>{secret}</code> <Copy text={secret} what={what} />
      </p>
      <button type="button" class="main" onClick={done}>
        I have stored it
      </button>
    </section>
  );
}
