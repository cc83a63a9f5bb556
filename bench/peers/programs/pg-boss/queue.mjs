/** The one queue of operations: the id of a job is the id of its operation. */
export const QUEUE = 'operation';
