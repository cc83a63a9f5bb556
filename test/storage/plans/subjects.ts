import { createHash, randomUUID } from 'node:crypto';
import { newId } from '../../../storage/model/new-id.js';
import type { FinishedOperation } from '../../../storage/operations/execution.js';
import type { StartingOperation } from '../../../storage/operations/starts.js';
import type { NewOperation } from '../../../storage/operations/submission.js';
import { BATCH, BUSY, EPOCH, idOf, type Sizes } from './sizes.js';

/** The rows that the statements are about: those of the connections from 2 on, of which the first two have a long history and backlog. */
export interface Subjects {
  workspaceId: string;
  connections: { id: string; partition: number }[];
  subscriptions: { id: string; partition: number; epoch: number; connection_id: string }[];
  running: StartingOperation[];
  /** The next of the same connections. */
  queued: StartingOperation[];
  /** Of the connection with the long history, all over it. */
  ended: string[];
  events: string[];
  /** Under way, each with its attempt. */
  sending: { id: string; epoch: number; attemptId: string }[];
  /** Hashes of API keys. */
  keys: string[];
  /** Jobs of one kind in the partition `BUSY`. */
  backlog: number;
  /** Operations of the first connection. */
  history: number;
}

const numbers = Array.from({ length: BATCH }, (_, i) => i + 2);

export function subjectsOf({ connections, operations, events, jobs }: Sizes): Subjects {
  // The last three rounds over all connections: running, queued, queued.
  const round = (back: number) => (c: number) => operations - (back + 1) * connections + c - 1;
  const starting = (numberOf: (c: number) => number, attemptOf: (n: number) => string) => (c: number) => ({
    ...{ id: idOf('operation', numberOf(c)), partition: BUSY, epoch: EPOCH, attemptId: attemptOf(numberOf(c)) },
    connectionId: idOf('connection', c),
  });
  const sendingFrom = events * 0.8 - Math.max(16, connections / 10) + 1;
  return {
    workspaceId: idOf('workspace', 1),
    connections: numbers.map((c) => ({ id: idOf('connection', c), partition: BUSY })),
    subscriptions: numbers.map((c) => ({
      ...{ id: idOf('subscription', c), partition: BUSY, epoch: EPOCH, connection_id: idOf('connection', c) },
    })),
    running: numbers.map(starting(round(2), (n) => idOf('attempt', n))),
    queued: numbers.map(starting(round(1), () => newId())),
    ended: numbers.map((c) => idOf('operation', Math.floor((operations / 10 / BATCH) * (c - 1)))),
    events: numbers.map((c) => idOf('event', Math.floor((events / BATCH) * (c - 1)))),
    sending: numbers.map((c) => ({
      ...{ id: idOf('delivery', sendingFrom + c), epoch: EPOCH, attemptId: idOf('attempt', sendingFrom + c) },
    })),
    keys: numbers.map((c) => sha(`key${c}`).toString('hex')),
    backlog: jobs + connections,
    history: operations / 10,
  };
}

export const sha = (text: string): Buffer => createHash('sha256').update(text).digest();

/** An operation to submit; the key is new unless one is given. */
export function newOperation(
  workspaceId: string,
  connection: { id: string; partition: number },
  key: string = randomUUID(),
): NewOperation {
  return {
    ...{ id: newId(), workspaceId, connectionId: connection.id, partition: connection.partition },
    ...{ capability: 'social.message.send', idempotencyKey: key, keyHash: sha(key), fingerprint: sha('') },
    ...{ input: '{"text":"hello"}', inputSealed: null, acceptedAt: new Date() },
    origin: {
      ...{ requestId: 'request', traceparent: null },
      sender: { kind: 'key', id: idOf('other', 1), name: 'key', address: '127.0.0.1' },
    },
  };
}

/** The end of an attempt. */
export const finished = (held: StartingOperation, to: FinishedOperation['to'] = 'succeeded'): FinishedOperation => ({
  ...held,
  ...{ from: 'running', to, reason: to, attemptStatus: to === 'queued' ? 'abandoned' : 'succeeded', phase: 'done' },
  ...{ result: to === 'succeeded' ? { ok: true } : null, errorCode: null, errorDetails: null, evidence: null },
  running_ms: 5,
});
