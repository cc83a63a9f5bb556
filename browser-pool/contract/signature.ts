/**
 * What one capability takes and gives back. Callers, its page program and its simulated answer are checked against it at
 * compile time; `result` is what the API answers.
 */
export interface Signature<
  Name extends string = string,
  Input extends object = object,
  Result extends object = object,
> {
  name: Name;
  input: Input;
  result: Result;
}

/** What a provider gives: the result without `state_revision`, which is added where the outcome is stored. */
export type AnswerOf<S extends Signature> = WithoutRevision<S['result']>;

type WithoutRevision<Result> = Result extends object ? Omit<Result, 'state_revision'> : never;

/**
 * Why nothing was left to do: `already_connected`, the two are connected; `invitation_pending`, an invitation of this person is
 * pending; `self_target`, the recipient is the account itself.
 */
export type SkipReason = 'already_connected' | 'invitation_pending' | 'self_target';
