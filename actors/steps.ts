/** For each kind of a state, the kinds that may follow it. */
export type Steps<Kind extends string> = Readonly<Record<Kind, readonly Kind[]>>;

/** Throws where `to` must not follow `from` in the table: an illegal step is a bug, never an answer. */
export function checkStep<Kind extends string>(thing: string, steps: Steps<Kind>, from: Kind, to: Kind): void {
  if (!steps[from].includes(to)) throw new Error(`illegal step of ${thing}: ${from} -> ${to}`);
}
