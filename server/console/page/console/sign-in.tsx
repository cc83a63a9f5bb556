import { useState } from 'preact/hooks';
import type { SessionJson } from '../../sessions.js';
import { Api, ApiError } from './kit/api.js';
import { Problem, Title } from './kit/parts.js';
import { refusalWords } from './kit/words.js';

const REFUSED: Readonly<Record<string, string>> = {
  unauthorized: 'This key is not known, or it does not work any more.',
  validation_error: 'This is not a key.',
  network_not_allowed: 'This key may not be used from here.',
  unanswered: refusalWords('unreachable'), // a session more than is needed ends by itself
};

/** Takes the key once; from then on a cookie that scripts cannot read stands for it (HTTP-24). */
export function SignIn({ ended, entered }: { ended: boolean; entered: (session: SessionJson) => void }) {
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (sending) return;
    const form = event.currentTarget as HTMLFormElement;
    const key = String(new FormData(form).get('key') ?? '').trim();
    setSending(true);
    setError(null);
    try {
      const session = await new Api(null, () => {}).send<SessionJson>('POST', '/console/session', { key });
      form.reset();
      entered(session);
    } catch (failure) {
      setSending(false);
      setError(inWords(failure));
    }
  };
  return (
    <main class="card">
      <Title text="Sign in" />
      {ended && <p role="status">Your session has ended. Sign in again to go on where you were.</p>}
      <form onSubmit={submit}>
        <label>
          Key
          <input
            name="key"
            type="password"
            autocomplete="current-password"
            required
            maxLength={128}
            spellcheck={false}
          />
        </label>
        <Problem error={error} />
        <button type="submit" class="main" aria-disabled={sending}>
          {sending ? 'Signing in' : 'Sign in'}
        </button>
      </form>
      <p class="quiet">A key of a workspace, or of an operator. It is not kept in the browser.</p>
    </main>
  );
}

function inWords(error: unknown): unknown {
  const words = error instanceof ApiError ? REFUSED[error.code] : undefined;
  return words && error instanceof ApiError ? new ApiError(error.status, error.code, words, []) : error;
}
