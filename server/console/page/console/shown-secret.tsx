import { useEffect, useRef } from 'preact/hooks';
import type { NewKeyJson } from '../../../routes/operator-keys.js';
import { Copy } from './parts.js';

/** A key that was just made: it is here, and nowhere else, until it is put away. */
export function ShownSecret({ made, done }: { made: NewKeyJson; done: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="card secret" aria-labelledby="secret">
      <h2 id="secret" ref={heading} tabIndex={-1}>
        The new key{made.name !== null && ` ${made.name}`}
      </h2>
      <p>Store it now: it is shown here once, and can never be read again.</p>
      <p>
        <code>{made.key}</code> <Copy text={made.key} what="the key" />
      </p>
      <button type="button" class="main" onClick={done}>
        I have stored it
      </button>
    </section>
  );
}
