import '../tokens.css';
import './page.css';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LinkProgressJson, OpenedLinkJson } from '../../../routes/connections/reconnect.js';
import { Link, Refusal, takeToken } from './link.js';
import { AskCode, AskPassword, Busy, Note } from './steps.js';
import { challengeWords, clock, failureWords, refusalWords } from './words.js';

/**
 * The page at which the owner of an account signs it in again (CONN-15).
 *
 *     opening ─▶ asking ─ password ─▶ working ─ challenge ─▶ asking for the code ─ code ─▶ working ─▶ signed in
 *        │          ▲                    └─ failed, tries are left ─┘
 *        └─▶ of no use: expired, replaced, or another page has it
 */
interface Shown {
  opened: OpenedLinkJson | null;
  progress: LinkProgressJson | null;
  /** Why the link is of no use. */
  useless: string | null;
  /** Why the last request was refused. */
  refused: string | null;
  /** The code that was given last, by its challenge: another one is asked for by another challenge. */
  answered: string | null;
}

const ASK_AGAIN_ms = 1000;
const link = new Link(takeToken());

const USELESS: Readonly<Record<string, string>> = {
  not_found: 'This link has expired, or a newer one took its place. Ask for a new one.',
  validation_error: 'This is not a whole link. Copy all of its address, or ask for a new one.',
  link_used: 'This link was used already. Ask for a new one.',
};

function Reconnect() {
  const [shown, show] = useState<Shown>({ opened: null, progress: null, useless: null, refused: null, answered: null });
  const change = (more: Partial<Shown>) => show((was) => ({ ...was, ...more }));
  const tried = async (work: () => Promise<Partial<Shown>>) => {
    try {
      change({ refused: null, ...(await work()) });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : 'unexpected';
      change(code in USELESS && code !== 'validation_error' ? { useless: code } : { refused: code });
    }
  };
  const open = async () => {
    try {
      const opened = await link.open();
      // After a reload of this very page it is its own link.
      change({ opened, progress: await link.progress(), refused: null });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : 'unexpected';
      change(code in USELESS ? { useless: code } : { refused: code });
    }
  };
  useEffect(() => void open(), []);

  /** What was refused, or lost its answer, may have been done: how the login stands is asked before that is said (CONN-15). */
  const asked = async (work: () => Promise<Partial<Shown>>): Promise<Partial<Shown>> => {
    try {
      return await work();
    } catch (error) {
      const progress = await link.progress();
      const wentOn = progress.status !== null && JSON.stringify(progress) !== JSON.stringify(shown.progress);
      if (wentOn) return { progress };
      if (error instanceof Refusal && !(error.code in USELESS)) return { progress, refused: error.code };
      throw error;
    }
  };

  const { opened, progress, useless, refused, answered } = shown;
  const challenge = progress?.challenge ?? null;
  const waitsForCode = challenge?.accepts_code === true && challenge.id !== answered;
  const working =
    progress?.status === 'queued' || progress?.status === 'running' || progress?.status === 'waiting_user';
  useEffect(() => {
    if (!working || waitsForCode || useless) return;
    const timer = setTimeout(() => void tried(async () => ({ progress: await link.progress() })), ASK_AGAIN_ms);
    return () => clearTimeout(timer);
  }, [shown]);

  if (useless) return <Note kind="stop" title="This link does not work" text={USELESS[useless] ?? ''} />;
  if (!opened || !progress) {
    if (!refused) return <Busy text="Opening the link" />;
    return <Note kind="stop" title="The link cannot be opened" text={refusalWords(refused)} again={open} />;
  }
  if (progress.status === 'succeeded') {
    return (
      <Note kind="done" title="You are signed in" text={`${opened.account} works again. You can close this page.`} />
    );
  }
  const problem = refused ? refusalWords(refused) : null;
  if (challenge && waitsForCode) {
    const give = (code: string) =>
      tried(() =>
        asked(async () => {
          await link.code({ challenge_id: challenge.id, code });
          return { answered: challenge.id };
        }),
      );
    return (
      <AskCode
        key={challenge.id}
        text={challengeWords(challenge.kind)}
        until={clock(challenge.expires_at)}
        problem={problem}
        give={give}
      />
    );
  }
  if (challenge && !challenge.accepts_code && challenge.id !== answered)
    return <Busy text={challengeWords(challenge.kind)} />;
  if (working) return <Busy text="Signing in. This can take a minute." problem={problem} />;
  if (progress.tries_left === 0) {
    return (
      <Note
        kind="stop"
        title="You are not signed in"
        text={`${failureWords(progress.error_code)} Ask for a new link.`}
      />
    );
  }
  return (
    <AskPassword
      opened={opened}
      problem={problem ?? (progress.status === null ? null : failureWords(progress.error_code))}
      left={progress.status === null ? null : progress.tries_left}
      until={clock(opened.expires_at)}
      give={(password) =>
        tried(() =>
          asked(async () => ({ progress: await link.login(password === null ? {} : { password }), answered: null })),
        )
      }
    />
  );
}

render(<Reconnect />, document.getElementById('page') as HTMLElement);
