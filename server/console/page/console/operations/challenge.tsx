import { useState } from 'preact/hooks';
import type { ChallengeJson } from '../../../../routes/operations/operation-parts.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Problem, Time } from '../kit/parts.js';
import { CHALLENGES } from '../words/operation-words.js';

interface ChallengeProps extends Pick<PageProps, 'api' | 'session'> {
  /** The operation that waits; undefined while none does. */
  operation: string | undefined;
  /** Null while the operation tries a code: the card stays, and knows which one was given. */
  challenge: ChallengeJson | null | undefined;
  answered: () => void;
}

/** What an operation waits for; the code goes to it from here, and is kept nowhere. */
export function ChallengeCard({ api, session, operation, challenge, answered }: ChallengeProps) {
  const [sending, setSending] = useState(false);
  // What the last code was given to: another challenge of the same operation asks for another one.
  const [given, setGiven] = useState<{ operation: string; challenge: string } | null>(null);
  const [failure, setFailure] = useState<{ challenge: string; error: unknown } | null>(null);
  if (!operation || !challenge) return null;
  const isGiven = given?.challenge === challenge.id;
  const wasWrong = !isGiven && given?.operation === operation;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (sending) return;
    const form = event.currentTarget as HTMLFormElement;
    const code = String(new FormData(form).get('code') ?? '').trim();
    setSending(true);
    setFailure(null);
    try {
      await api.send('POST', `/v1/operations/${operation}/challenge`, { challenge_id: challenge.id, code });
      form.reset();
      setGiven({ operation, challenge: challenge.id });
      answered();
    } catch (error) {
      setFailure({ challenge: challenge.id, error });
    }
    setSending(false);
  };
  const asks = challenge.accepts_code && may(session, 'operations:write');
  return (
    <section class="card challenge" aria-label="Challenge">
      <p>
        {CHALLENGES[challenge.kind]} It is given up <Time at={challenge.expires_at} />.
      </p>
      {asks && !isGiven && (
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
      {isGiven && <p role="status">The code is given. Whether it was right shows in a moment.</p>}
      {wasWrong && <p role="status">That code was wrong.</p>}
      <Problem error={failure?.challenge === challenge.id ? failure.error : null} />
    </section>
  );
}
