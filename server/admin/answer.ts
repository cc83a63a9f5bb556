/** What a command answers with: printed as one JSON object. */
export type Answer = Record<string, unknown>;

/** The command is right and its work cannot be done: exit status 1 with this line. */
export class Failure extends Error {}
