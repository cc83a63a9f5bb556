import type { AnswerClass, Answers } from './messages.js';

/** The class of a status. */
export function classOf(status: number): AnswerClass {
  if (status === 429 || status === 503) return `${status}`;
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
}

/** The class of a request that failed: by the name that undici gives to a limit of time, or else the connection's end. */
export function classOfError(error: unknown): AnswerClass {
  const { code = '', name = '' } = error as { code?: string; name?: string };
  return /TIMEOUT/.test(code) || name === 'TimeoutError' ? 'silent' : 'reset';
}

export function count(answers: Answers, outcome: AnswerClass): void {
  answers[outcome] = (answers[outcome] ?? 0) + 1;
}
