import fastify from 'fastify';

/**
 * The HTTP side that the peers share, as Fastify's pages advise: a schema for each body and each answer. What differs is given:
 *
 * @typedef {{ id: string, capability: string, status: string, result: unknown, created_at: string }} Operation
 * @typedef {{ key: string, capability: string, input: object }} Submission
 * @param {object} store
 * @param {(submission: Submission) => Promise<{ operation: Operation, replayed: boolean } | null>} store.submit null: the key was used
 *   for another input.
 * @param {(id: string) => Promise<Operation | undefined>} store.read
 * @param {() => Promise<boolean>} store.idle Whether all that was accepted has ended.
 * @param {() => Promise<{ ended: number, last_ms: number }>} store.ended How many have ended, and when the last did; on PostgreSQL, with
 *   what has been written (`wal_bytes`, `stored_bytes`).
 */
export async function serve({ submit, read, idle, ended }) {
  const app = fastify();
  app.post('/operations', { schema: SUBMIT }, async (request, reply) => {
    const submitted = await submit({ key: request.headers['idempotency-key'], ...request.body });
    if (!submitted) return reply.code(409).send({ code: 'idempotency_conflict' });
    return reply.code(submitted.replayed ? 200 : 202).send(submitted.operation);
  });
  app.get('/operations/:id', { schema: READ }, async (request, reply) => {
    const operation = await read(request.params.id);
    return operation ?? reply.code(404).send({ code: 'not_found' });
  });
  // For whoever measures.
  app.get('/idle', async () => ({ idle: await idle() }));
  app.get('/ended', ended);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}

const OPERATION = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    capability: { type: 'string' },
    status: { type: 'string' },
    result: { type: ['object', 'null'], additionalProperties: true },
    created_at: { type: 'string' },
  },
};
const REFUSAL = { type: 'object', properties: { code: { type: 'string' } } };

const SUBMIT = {
  headers: {
    type: 'object',
    required: ['idempotency-key'],
    properties: { 'idempotency-key': { type: 'string', minLength: 1, maxLength: 128 } },
  },
  body: {
    type: 'object',
    required: ['capability', 'input'],
    additionalProperties: false,
    properties: {
      capability: { const: 'social.profile.get' },
      input: {
        type: 'object',
        required: ['profile_id'],
        additionalProperties: false,
        properties: { profile_id: { type: 'string', minLength: 1, maxLength: 255 } },
      },
    },
  },
  response: { 200: OPERATION, 202: OPERATION, 409: REFUSAL },
};

const READ = {
  params: { type: 'object', properties: { id: { type: 'string', maxLength: 128 } } },
  response: { 200: OPERATION, 404: REFUSAL },
};
