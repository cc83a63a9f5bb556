import { useState } from 'preact/hooks';
import type { ChallengeJson } from '../../../routes/operation-parts.js';
import { CHALLENGES } from './operation-words.js';
import { may, type PageProps } from './page-props.js';
import { Problem, Time } from './parts.js';

interface ChallengeProps extends Pick<PageProps, 'api' | 'session'> {
  operation: string;
  challenge: ChallengeJson;
  answered: () => void;
}

/** What an operation waits for; the code goes to it from here, and is kept nowhere. */
export function ChallengeCard({ api, session, operation, challenge, answered }: ChallengeProps) {
  const [sending, setSending] = useState(false);
  // The challenge whose code was given: another one is asked for by another challenge.
  const [given, setGiven] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (sending) return;
    const form = event.currentTarget as HTMLFormElement;
    const code = String(new FormData(form).get('code') ?? '').trim();
    setSending(true);
    setError(null);
    try {
      await api.send('POST', `/v1/operations/${operation}/challenge`, { challenge_id: challenge.id, code });
      form.reset();
      setGiven(challenge.id);
      answered();
    } catch (failure) {
      setError(failure);
    }
    setSending(false);
  };
  const asks = challenge.accepts_code && may(session, 'operations:write');
  return (
    <section class="card challenge" aria-label="Challenge">
      <p>
        {CHALLENGES[challenge.kind]} It is given up <Time at={challenge.expires_at} />.
      </p>
      {asks && given !== challenge.id && (
        <form class="one-line" onSubmit={submit}>
          <label>
            Code
            <input
              name="code"
              autocomplete="one-time-code"
              inputMode="numeric"
              required
              maxLength={32}
              spellcheck={false}
            />
          </label>
          <button type="submit" class="main" aria-disabled={sending}>
            {sending ? 'Sending' : 'Give the code'}
          </button>
        </form>
      )}
      {given !== null && (
        <p role="status">
          {given === challenge.id
            ? 'The code is given. Whether it was right shows in a moment.'
            : 'That code was wrong.'}
        </p>
      )}
      <Problem error={error} />
    </section>
  );
}
