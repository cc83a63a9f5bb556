/** What a command answers with: printed as one JSON object. */
export type Answer = Record<string, unknown>;

/** What goes to stdout at the end of a command, and the exit status. */
export interface Printed {
  text: string;
  status: number;
}

export const asJson = (answer: Answer, status = 0): Printed => ({ text: JSON.stringify(answer), status });

/** The command is right and its work cannot be done: exit status 1 with this line. */
export class Failure extends Error {}
