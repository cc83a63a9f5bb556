import { dueQueues } from '../../../storage/jobs/job-table.js';
import { cancelQueued, withMailboxes } from '../../../storage/operations/cancel-queued.js';
import { challengeLeft, resumeFromUser, waitForUser } from '../../../storage/operations/challenge.js';
import { answerStanding, markAnswer, withdrawAnswer } from '../../../storage/operations/challenge-answer.js';
import { enterDispatching, finishOperations, lockUnlocked, storedEnd } from '../../../storage/operations/execution.js';
import { requestedLooks } from '../../../storage/operations/looks.js';
import { closeMailboxes, openMailboxes, readLong, readQueued } from '../../../storage/operations/mailboxes.js';
import { cancelOperation } from '../../../storage/operations/operations.js';
import { cancelsRequested, mailboxesInRows } from '../../../storage/operations/owner-polls.js';
import { findInvitations, findRecipients } from '../../../storage/operations/simulated-invitations.js';
import { readActive } from '../../../storage/operations/simulated-messages.js';
import { startOperations, startsLeftOut } from '../../../storage/operations/starts.js';
import { submitOperations } from '../../../storage/operations/submission.js';
import type { Database } from '../../../storage/postgres/database.js';
import { ALL_PARTITIONS, BATCH, BUSY, EPOCH, idOf, NODE } from './sizes.js';
import type { HotWork } from './statement.js';
import { finished, newOperation, type Subjects } from './subjects.js';

const OWNED = [{ id: BUSY, epoch: EPOCH }];
const WORKER = { node_id: NODE, thread: 'actors-1' };
const PAGE = 20;
const CHALLENGE = { id: idOf('other', 1), kind: 'sms', accepts_code: true, answered: false, tries: 0 } as const;

/** What accepts, runs and ends operations. */
export function operationWork(of: Subjects): HotWork[] {
  const mailboxes = of.connections.map(({ id, partition }) => ({ partition, connectionId: id }));
  const submitted = () => of.connections.map((connection) => newOperation(of.workspaceId, connection));
  const [running, queued] = [of.running[0]!, of.queued[0]!];
  return [
    {
      name: 'submitOperations, mailboxes open',
      pool: 'thread',
      work: (db) =>
        submitOperations(
          db,
          submitted(),
          OWNED,
          of.connections.map(({ id }) => id),
        ),
    },
    {
      name: 'submitOperations, mailboxes not open, one connection twice',
      pool: 'thread',
      work: (db) => submitOperations(db, [...submitted(), ...submitted().slice(0, 2)], ALL_PARTITIONS),
    },
    {
      name: 'submitOperations, each starts at once',
      pool: 'thread',
      async work(db) {
        const operations = submitted();
        const attempts = operations.map(
          ({ id }) => [id, { id, phase: 'preparing', started_at: new Date().toISOString() }] as const,
        );
        await submitOperations(
          db,
          operations,
          OWNED,
          of.connections.map(({ id }) => id),
          new Map(attempts),
        );
      },
    },
    {
      name: 'submitOperations, keys that were used and connections that are gone',
      pool: 'thread',
      notKept: 'of a small table either index seems right: what a key was used for is looked for in its workspace',
      work: (db) =>
        submitOperations(
          db,
          of.connections.map((connection, i) =>
            newOperation(of.workspaceId, i % 2 ? connection : { id: idOf('other', i), partition: 3 }, `key-${i}`),
          ),
          OWNED,
        ),
    },
    { name: 'startOperations', pool: 'thread', work: (db) => startOperations(db, of.queued, ['social.message.send']) },
    { name: 'startsLeftOut', pool: 'thread', work: (db) => startsLeftOut(db, of.running) },
    { name: 'enterDispatching', pool: 'thread', work: (db) => enterDispatching(db, of.running, WORKER) },
    {
      name: 'finishOperations',
      pool: 'thread',
      work: (db) =>
        finishOperations(
          db,
          of.running.map((o) => finished(o)),
        ),
    },
    {
      name: 'finishOperations, put back',
      pool: 'thread',
      work: (db) =>
        finishOperations(
          db,
          of.running.map((o) => finished(o, 'queued')),
        ),
    },
    {
      name: 'finishOperations, and start the next',
      pool: 'thread',
      work: (db) =>
        finishOperations(
          db,
          of.running.map((o) => finished(o)),
          new Map(of.running.map(({ id }, i) => [id, of.queued[i]!])),
          ['social.message.send'],
        ),
    },
    { name: 'storedEnd', pool: 'thread', work: (db) => storedEnd(db, finished(running)) },
    { name: 'lockUnlocked', pool: 'thread', work: (db) => db.transaction((tx) => lockUnlocked(tx, of.ended)) },
    {
      name: 'waitForUser, markAnswer, answerStanding, challengeLeft, withdrawAnswer, resumeFromUser',
      pool: 'thread',
      async work(db) {
        await waitForUser(db, running, CHALLENGE, 60_000);
        const mark = await markAnswer(db, running.id, CHALLENGE.id);
        await answerStanding(db, running.id, CHALLENGE.id, mark ?? '');
        await challengeLeft(db, running, CHALLENGE.id);
        if (mark) await withdrawAnswer(db, running.id, mark);
        await resumeFromUser(db, running, null, 'code_received');
      },
    },
    { name: 'openMailboxes', pool: 'thread', work: (db) => openMailboxes(db, OWNED, BATCH) },
    {
      name: 'openMailboxes, but for some',
      pool: 'thread',
      work: (db) => openMailboxes(db, [{ ...OWNED[0]!, but: of.connections.map(({ id }) => id) }], BATCH),
    },
    {
      name: 'readQueued',
      pool: 'thread',
      rows: 2_000,
      why: 'a page of the long mailbox',
      work: (db) =>
        readQueued(
          db,
          mailboxes.map((one) => ({ ...one, first: of.running[0]!.id })),
          1_000,
        ),
    },
    {
      name: 'readLong',
      pool: 'thread',
      withoutStatistics: { rows: of.history, blocks: of.history, why: 'each page sorts what is left of the mailbox' },
      rows: 2_000,
      why: 'a page of the long mailbox',
      work: (db) => readLong(db, [{ ...mailboxes[1]!, first: idOf('operation', 1) }], 1_000),
    },
    {
      name: 'closeMailboxes, nothing left',
      pool: 'thread',
      work: async (db) =>
        closeMailboxes(
          db,
          (await withVersions(db, mailboxes)).map((one) => ({ ...one, epoch: EPOCH, from: null })),
        ),
    },
    {
      name: 'closeMailboxes, marks move',
      pool: 'thread',
      work: async (db) =>
        closeMailboxes(
          db,
          (await withVersions(db, mailboxes)).map((one, i) => ({ ...one, epoch: EPOCH, from: of.queued[i]!.id })),
        ),
    },
    {
      name: 'cancelsRequested',
      pool: 'thread',
      work: (db) =>
        cancelsRequested(
          db,
          of.running.map(({ id }) => id),
        ),
    },
    {
      name: 'mailboxesInRows',
      pool: 'thread',
      work: (db) => mailboxesInRows(db, { id: BUSY, epoch: EPOCH }, of.connections[0]!.id, BATCH),
    },
    {
      name: 'findRecipients, findInvitations, readActive',
      pool: 'thread',
      async work(db) {
        const people = of.connections.map(({ id }, i) => {
          return { workspaceId: of.workspaceId, connectionId: id, actorId: `a${i}` };
        });
        await findRecipients(db, people);
        await findInvitations(db, people);
        await readActive(db, of.connections[0]!.id, ['one', 'other']);
      },
    },
    { name: 'requestedLooks', pool: 'thread', work: (db) => requestedLooks(db, [BUSY], []) },
    { name: 'dueQueues', pool: 'thread', work: (db) => dueQueues(db, [BUSY, 8, 9]) },
    {
      name: 'withMailboxes, cancelQueued',
      pool: 'edge',
      work: async (db) => {
        await withMailboxes(db, of.connections);
        const any = { capability: 'social.profile.get', createdAfter: null, createdBefore: null };
        const one = { id: queued.connectionId, partition: queued.partition };
        await db.transaction((tx) => cancelQueued(tx, one, any, idOf('operation', 0), PAGE));
      },
    },
    {
      name: 'cancelOperation, queued',
      pool: 'edge',
      work: (db) => db.transaction((tx) => cancelOperation(tx, queued.id)),
    },
    {
      name: 'cancelOperation, running',
      pool: 'edge',
      work: (db) => db.transaction((tx) => cancelOperation(tx, running.id)),
    },
  ];
}

/** As their owner knows them that opened them: a settling of another version changes nothing. */
async function withVersions<Mailbox extends { connectionId: string }>(
  db: Database,
  mailboxes: Mailbox[],
): Promise<(Mailbox & { version: string })[]> {
  const rows = await db.query<{ id: string; version: string }>(
    'testVersions',
    `select i.id, j.version from unnest($1::uuid[]) i(id) cross join lateral (
       select xmin::text as version from pgboss.job_common where name = 'mailbox-${BUSY}' and id = i.id limit 1) j`,
    [mailboxes.map(({ connectionId }) => connectionId)],
  );
  const versions = new Map(rows.map(({ id, version }) => [id, version]));
  return mailboxes.map((one) => ({ ...one, version: versions.get(one.connectionId) ?? '1' }));
}
