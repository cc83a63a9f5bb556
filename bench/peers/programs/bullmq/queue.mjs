/** The one queue of operations, on the Redis that REDIS_URL names. */
export const QUEUE = 'operation';
const { hostname: host, port } = new URL(process.env.REDIS_URL ?? '');
export const connection = { host, port: Number(port), maxRetriesPerRequest: null };
