import { PARTITIONS, partitionOf } from '../../../storage/model/records.js';
import { queueName } from '../../../storage/postgres/jobs.js';
import { type Case, hasEnded, named } from './case.js';
import { SERIES_ms } from './deliveries.js';
import { LIMITS } from './limits.js';

const isUnderWay = (status: string) => status === 'running' || status === 'waiting_user';
const isOpen = (status: string) => status === 'pending' || status === 'sending';

/** A live operation has its one job, in its partition's queue; nothing else has one. */
export function* jobsAreOfLiveOperations({ evidence, operations }: Case): Iterable<string> {
  const jobs = evidence.rows.jobs.filter(({ queue }) => queue.startsWith('operation-'));
  for (const { id, queue, state } of jobs) {
    const operation = operations.get(id);
    if (!operation) yield `${state} job ${id} of ${queue} is of no operation`;
    else if (hasEnded(operation))
      yield `${state} job of ${queue} is left of ${named(operation)}, which is ${operation.status}`;
    else if (queue !== queueName('operation', partitionOf(operation.connection_id))) {
      yield `the job of ${named(operation)} is in ${queue}, another partition's`;
    }
  }
  const withJob = new Set(jobs.map(({ id }) => id));
  for (const operation of evidence.rows.operations) {
    if (!hasEnded(operation) && !withJob.has(operation.id))
      yield `${named(operation)} is ${operation.status} without a job`;
  }
}

/** A job that was fetched is in somebody's hand: its operation runs, or another one of its connection does. */
export function* fetchedJobsAreInHand(run: Case): Iterable<string> {
  const { jobs, running_operations: leases } = run.evidence.rows;
  const running = new Set(leases.map(({ connection_id }) => connection_id));
  for (const { id, queue, state } of jobs) {
    const operation = state === 'active' ? run.operations.get(id) : undefined;
    if (operation?.status !== 'queued' || running.has(operation.connection_id)) continue;
    if ((run.submissionOf(operation)?.accepted_at ?? 0) > run.readAt - LIMITS.in_passing_ms) continue;
    yield `${named(operation)} was fetched from ${queue} and waits behind nothing`;
  }
}

/** A connection's lease is of an operation of it that runs or waits for its user; each of those holds it. */
export function* leasesAreOfRunningOperations({ evidence, operations }: Case): Iterable<string> {
  const { running_operations: leases, operations: rows } = evidence.rows;
  for (const { connection_id, operation_id } of leases) {
    const operation = operations.get(operation_id);
    if (!operation) yield `connection ${connection_id} is held by operation ${operation_id}, which is not there`;
    else if (operation.connection_id !== connection_id)
      yield `connection ${connection_id} is held by ${named(operation)}`;
    else if (!isUnderWay(operation.status))
      yield `connection ${connection_id} is held by ${named(operation)}, which is ${operation.status}`;
  }
  const held = new Set(leases.map(({ operation_id }) => operation_id));
  for (const operation of rows) {
    if (isUnderWay(operation.status) && !held.has(operation.id))
      yield `${named(operation)} is ${operation.status} without its connection's lease`;
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
export function* jobsAreOfWaitingSubscriptions({ evidence, readAt }: Case): Iterable<string> {
  const { jobs, deliveries, subscriptions, events } = evidence.rows;
  const lately = readAt - LIMITS.in_passing_ms;
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
    if (connection === undefined) yield `${state} job ${id} of ${queue} is of no subscription`;
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
