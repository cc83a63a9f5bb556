/** What a command answers with: printed as one JSON object. */
export type Answer = Record<string, unknown>;

/** The command was right and the work could not be done: exit status 1 with this line. */
export class Failure extends Error {}
