import { queueName } from '../../../../storage/jobs/jobs.js';
import { PARTITIONS, partitionOf } from '../../../../storage/model/records.js';
import type { Rows } from '../evidence.js';
import { type Case, hasEnded, named } from './case.js';
import { SERIES_ms } from './deliveries.js';
import { LIMITS } from './limits.js';

type Job = Rows['jobs'][number];

const isUnderWay = (status: string) => status === 'running' || status === 'waiting_user';
const isOpen = (status: string) => status === 'pending' || status === 'sending';

/** What its `mailbox` jobs are of. */
function mailboxesOf({ evidence }: Case): Map<string, Job> {
  const jobs = evidence.rows.jobs.filter(({ queue }) => queue.startsWith('mailbox-'));
  return new Map(jobs.map((job) => [job.id, job]));
}

/**
 * Each operation that has not ended stands in the mailbox of its connection, in the queue of its partition, and not before the mailbox's mark. A
 * connection without one has no mailbox, but for a moment.
 */
export function* mailboxesHoldLiveOperations(run: Case): Iterable<string> {
  const mailboxes = mailboxesOf(run);
  const live = new Set<string>();
  for (const operation of run.evidence.rows.operations) {
    if (hasEnded(operation)) continue;
    live.add(operation.connection_id);
    const mailbox = mailboxes.get(operation.connection_id);
    const what = `${named(operation)} is ${operation.status}`;
    if (!mailbox) yield `${what} in no mailbox`;
    else if (mailbox.queue !== queueName('mailbox', partitionOf(operation.connection_id)))
      yield `${what} in a mailbox of ${mailbox.queue}, another partition's`;
    else if (!mailbox.from || mailbox.from > operation.id)
      yield `${what} before the mark ${mailbox.from} of its mailbox`;
  }
  const lately = run.readAt - run.inPassing_ms;
  for (const { id, queue, state } of mailboxes.values()) {
    const operations = run.operationsByConnection.get(id) ?? [];
    if (live.has(id) || operations.some(({ updated_at }) => updated_at > lately)) continue;
    yield `${state} mailbox of ${queue} is left of connection ${id}, which has nothing to run`;
  }
}

/** During the run as at its end, whatever failed: each operation that has not ended stands in a mailbox, and not before its mark. */
export function* noOrphanWasSeen({ evidence, operations }: Case): Iterable<string> {
  for (const { operation_id, connection_id, status, from, to, mark } of evidence.orphans ?? []) {
    const operation = operations.get(operation_id);
    const what = operation ? named(operation) : `operation ${operation_id} of connection ${connection_id}`;
    const where = mark === null ? 'in no mailbox' : `before the mark ${mark} of its mailbox`;
    yield `${what} was ${status} ${where} from ${from} to ${to}`;
  }
}

/** A mailbox that is open is in somebody's hand: of what is queued in it, one runs. */
export function* openMailboxesAreInHand(run: Case): Iterable<string> {
  const lately = run.readAt - run.inPassing_ms;
  for (const { id, queue, state } of mailboxesOf(run).values()) {
    const operations = run.operationsByConnection.get(id) ?? [];
    if (state !== 'active' || operations.some(({ status }) => isUnderWay(status))) continue;
    for (const operation of operations) {
      if (operation.status !== 'queued' || (run.submissionOf(operation)?.accepted_at ?? 0) > lately) continue;
      yield `${named(operation)} is in an open mailbox of ${queue} and waits behind nothing`;
    }
  }
}

/** At most one operation of a connection runs or waits for its user. */
export function* oneIsUnderWay({ operationsByConnection }: Case): Iterable<string> {
  for (const [connection, operations] of operationsByConnection) {
    const [first, ...others] = operations.filter(({ status }) => isUnderWay(status));
    for (const other of others)
      yield `connection ${connection}: ${named(other)} is ${other.status} beside ${first?.id}`;
  }
}

/**
 * No delivery is in the middle of an attempt for longer than an attempt takes: its sender is gone. Of an older event it may be a
 * later attempt, where its receiver failed.
 */
export function* noDeliveryIsLeftSending({ evidence, readAt, faults }: Case): Iterable<string> {
  const { deliveries, events, subscriptions } = evidence.rows;
  const received = new Map(events.map(({ id, received_at }) => [id, received_at]));
  const urls = new Map(subscriptions.map(({ id, callback_url }) => [id, callback_url]));
  for (const { id, status, subscription_id, event_id } of deliveries) {
    if (status !== 'sending') continue;
    const life = { from: received.get(event_id) ?? 0, to: readAt };
    const repeated = faults.receiverFailed([urls.get(subscription_id) ?? ''], life);
    if (life.to - life.from < LIMITS.attempt_ms + (repeated ? SERIES_ms : 0)) continue;
    yield `delivery ${id} of subscription ${subscription_id} is still sending`;
  }
}

/** A subscription has a job exactly while it has a delivery to make, in the queue of its connection's partition. */
export function* jobsAreOfWaitingSubscriptions({ evidence, readAt, inPassing_ms }: Case): Iterable<string> {
  const { jobs, deliveries, subscriptions, events } = evidence.rows;
  const lately = readAt - inPassing_ms;
  const lively = new Set(events.flatMap((event) => (event.received_at > lately ? event.connection_id : [])));
  const connections = new Map(subscriptions.map(({ id, connection_id }) => [id, connection_id]));
  const waiting = new Set(
    deliveries.filter(({ status }) => isOpen(status)).map((delivery) => delivery.subscription_id),
  );
  const withJob = new Set<string>();
  for (const { id, queue, state } of jobs) {
    if (!queue.startsWith('delivery-')) continue;
    withJob.add(id);
    const connection = connections.get(id);
    if (typeof connection !== 'string') yield `${state} job ${id} of ${queue} is of no connection's subscription`;
    else if (queue !== queueName('delivery', partitionOf(connection)))
      yield `the job of subscription ${id} is in ${queue}, another partition's`;
    else if (!waiting.has(id) && !lively.has(connection))
      yield `${state} job of ${queue} is left of subscription ${id}, which has nothing to deliver`;
  }
  for (const id of waiting) if (!withJob.has(id)) yield `subscription ${id} has deliveries to make, and no job`;
}

/** Parts of a file are of the attempt that succeeded. */
export function* filesAreOfSuccesses({ evidence, operations }: Case): Iterable<string> {
  for (const { operation_id, attempt_id } of evidence.rows.file_parts) {
    const operation = operations.get(operation_id);
    if (!operation) yield `parts of a file are of operation ${operation_id}, which is not there`;
    else if (operation.status !== 'succeeded')
      yield `parts of a file are left of ${named(operation)}, which is ${operation.status}`;
    else if (operation.attempts.at(-1)?.id !== attempt_id)
      yield `parts of a file are of attempt ${attempt_id} of ${named(operation)}, which is not its last`;
  }
}

/** A listener that says it is connected has somebody who listens. */
export function* listenersAreAlive({ evidence, readAt }: Case): Iterable<string> {
  for (const { connection_id, stream_status, heartbeat_at } of evidence.rows.listeners) {
    if (stream_status !== 'connected') continue;
    const age = readAt - (heartbeat_at ?? Number.NEGATIVE_INFINITY);
    if (age > LIMITS.heartbeat_ms)
      yield `the listener of connection ${connection_id} is connected, and was last heard of ${age} ms ago`;
  }
}

/** Every partition has an owner. */
export function* everyPartitionIsOwned({ evidence }: Case): Iterable<string> {
  const owned = new Set(
    evidence.rows.partitions.filter((one) => one.owned && one.node_id !== null).map(({ id }) => id),
  );
  for (let id = 0; id < PARTITIONS; id++) if (!owned.has(id)) yield `partition ${id} has no owner`;
}
