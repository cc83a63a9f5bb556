/** For each state of a machine the states that may follow it; a final state has none. */
export type Steps<Kind extends string> = Readonly<Record<Kind, readonly Kind[]>>;

/** Throws when `steps` have no step from `from` to `to`. `machine` names the machine in the error. */
export function checkStep<Kind extends string>(machine: string, steps: Steps<Kind>, from: Kind, to: Kind): void {
  if (!steps[from].includes(to)) throw new Error(`${machine}: no step from ${from} to ${to}`);
}
