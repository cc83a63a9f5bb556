import type { INVARIANTS } from '../../bench/scenarios/chaos/checker/check.js';
import type { Evidence, OperationRecord, SubmissionRecord } from '../../bench/scenarios/chaos/evidence.js';
import { partitionOf } from '../../storage/model/records.js';

/** One edit of kept evidence that breaks a promise. */
export interface PlantedBreach {
  invariant: keyof typeof INVARIANTS;
  /** What was edited, as the name of a test. */
  when: string;
  /** Edits the evidence; gives what the violation must name. */
  plant: (evidence: Evidence) => string;
}

/** What one operation left: its row, its submission, and its write at the network. */
interface Whole {
  row: OperationRecord;
  submission: SubmissionRecord;
}

function whole(evidence: Evidence, holds: (one: Whole) => boolean): Whole {
  for (const row of evidence.rows.operations) {
    const submission = evidence.submissions.find(({ key }) => key === row.idempotency_key);
    if (submission && holds({ row, submission })) return { row, submission };
  }
  throw new Error('the evidence has no such operation');
}

const succeeded = (evidence: Evidence) =>
  whole(evidence, ({ row, submission }) => row.status === 'succeeded' && submission.accepted_at !== null);
const written = (evidence: Evidence) =>
  whole(evidence, ({ row, submission }) => row.status === 'succeeded' && submission.marker !== null);
const read = (evidence: Evidence) =>
  whole(evidence, ({ row }) => row.status === 'succeeded' && row.capability === 'social.identity.get');
const writeOf = ({ ledger }: Evidence, { submission }: Whole) =>
  ledger.find(({ text }) => text.includes(submission.marker ?? ' '))!;

function ends(row: OperationRecord, status: string, code: string | null): string {
  row.timeline.at(-1)!.to = status;
  const evidence_fault = status === 'outcome_unknown' ? 'connection_lost' : null;
  Object.assign(row, { status, error_code: code, evidence_fault });
  return row.id;
}

/** Two operations of a connection, both written when `marked`, the second sent after the first was accepted, all clocks right. */
function inTurn(evidence: Evidence, marked: boolean): { first: Whole; second: Whole } {
  const clocks = evidence.run.faults.filter(({ kind }) => kind === 'clock');
  const first = whole(evidence, ({ row, submission }) => {
    const calm = clocks.every(({ from, to }) => row.updated_at < from || submission.sent_at > to + 20_000);
    return (
      calm && row.status === 'succeeded' && submission.accepted_at !== null && (!marked || submission.marker !== null)
    );
  });
  const second = whole(
    evidence,
    ({ row, submission }) =>
      row.connection_id === first.row.connection_id &&
      submission.sent_at > first.submission.accepted_at! &&
      row.status === 'succeeded' &&
      (!marked || submission.marker !== null),
  );
  return { first, second };
}

/** The operations begin to end one after the other from here on: no fault explains anything. */
function withoutFaults(evidence: Evidence): void {
  evidence.run.faults = [];
}

/** An operation that was seen in nobody's hand during the run, and ended all the same. */
function orphaned(evidence: Evidence, mark: string | null): string {
  const { row } = succeeded(evidence);
  const [from, to] = [row.created_at, row.created_at + 2_000];
  evidence.orphans = [{ operation_id: row.id, connection_id: row.connection_id, status: 'running', from, to, mark }];
  return row.id;
}

/** An end that was told, its event, and the deliveries of that. */
function toldEnd(evidence: Evidence) {
  const { events, deliveries } = evidence.rows;
  const { row } = succeeded(evidence);
  const event = events.find(({ provider_event_id }) => provider_event_id === `operation.finished/${row.id}`)!;
  return { row, event, deliveries: deliveries.filter(({ event_id }) => event_id === event.id) };
}

function growing(evidence: Evidence, measure: 'rss_mib' | 'handles' | 'database_connections' | 'contexts', by: number) {
  const last = evidence.samples.length - 1;
  for (const [i, sample] of evidence.samples.entries()) sample[measure] += (by * i) / last;
  return measure;
}

export const PLANTED: readonly PlantedBreach[] = [
  {
    invariant: 'acceptedHasRow',
    when: 'the row of an accepted operation is gone',
    plant: (evidence) => {
      const { row } = succeeded(evidence);
      evidence.rows.operations = evidence.rows.operations.filter((one) => one !== row);
      return row.id;
    },
  },
  {
    invariant: 'everyOperationEnds',
    when: 'an operation is still queued',
    plant: (evidence) => ends(succeeded(evidence).row, 'queued', null),
  },
  {
    invariant: 'everyOperationEnds',
    when: 'an operation whose client was never answered still runs',
    plant: (evidence) =>
      ends(whole(evidence, ({ submission }) => submission.accepted_at === null).row, 'running', null),
  },
  {
    invariant: 'everyOperationEnds',
    when: 'an operation ended 31 s after the last fault',
    plant: (evidence) => {
      const { row } = succeeded(evidence);
      row.updated_at = evidence.run.calm_at + 30_001;
      return row.id;
    },
  },
  {
    invariant: 'oneOperationAKey',
    when: 'a key has two rows',
    plant: (evidence) => {
      const { row } = succeeded(evidence);
      evidence.rows.operations.push({ ...row, id: 'twin' });
      return row.idempotency_key;
    },
  },
  {
    invariant: 'oneOperationAKey',
    when: 'the repetition was answered with another operation',
    plant: (evidence) => {
      const { submission } = succeeded(evidence);
      submission.answers.push({ ...submission.answers.at(-1)!, status: 200, replayed: true, operation_id: 'other' });
      return submission.key;
    },
  },
  {
    invariant: 'oneOperationAKey',
    when: 'the repetition was answered with 202 as well',
    plant: (evidence) => {
      const { submission } = whole(evidence, (one) => one.submission.answers.some(({ status }) => status === 202));
      submission.answers.push({ ...submission.answers.find(({ status }) => status === 202)! });
      return submission.key;
    },
  },
  {
    invariant: 'oneOperationAKey',
    when: 'the repetition was a conflict',
    plant: (evidence) => {
      const { submission } = succeeded(evidence);
      submission.answers.push({ node: 0, at: 0, status: 409, operation_id: null, replayed: false });
      return submission.key;
    },
  },
  {
    invariant: 'everyOperationWasAskedFor',
    when: 'a row has a key that nobody sent',
    plant: (evidence) => {
      const { row } = read(evidence);
      evidence.rows.operations.push({ ...row, id: 'unasked', idempotency_key: 'no such key' });
      return 'unasked';
    },
  },
  {
    invariant: 'operationIsAsSubmitted',
    when: 'an operation has another capability',
    plant: (evidence) => {
      const { row } = read(evidence);
      row.capability = 'social.profile.get';
      return row.id;
    },
  },
  {
    invariant: 'operationIsAsSubmitted',
    when: 'an operation is on another connection',
    plant: (evidence) => {
      const { row, submission } = read(evidence);
      submission.connection_id = 'another connection';
      return row.id;
    },
  },
  {
    invariant: 'cancelStands',
    when: 'a cancel was answered and is not in the row',
    plant: (evidence) => {
      const { row } = succeeded(evidence);
      evidence.cancels.push({ operation_id: row.id, at: row.updated_at - 10_001, status: 200 });
      return row.id;
    },
  },
  {
    invariant: 'cancelStands',
    when: 'an attempt begins long after the cancel',
    plant: (evidence) => {
      withoutFaults(evidence);
      const { row } = succeeded(evidence);
      row.cancel_requested = true;
      evidence.cancels.push({ operation_id: row.id, at: row.attempts.at(-1)!.started_at - 10_001, status: 200 });
      return row.id;
    },
  },
  {
    invariant: 'writtenOnce',
    when: 'the network has a message twice',
    plant: (evidence) => {
      const one = written(evidence);
      evidence.ledger.push({ ...writeOf(evidence, one), text: `again: ${one.submission.marker}` });
      return one.submission.key;
    },
  },
  {
    invariant: 'successWasWritten',
    when: 'the network has no message of a success',
    plant: (evidence) => {
      const one = written(evidence);
      const write = writeOf(evidence, one);
      evidence.ledger = evidence.ledger.filter((other) => other !== write);
      return one.row.id;
    },
  },
  ...(['failed', 'canceled', 'skipped'] as const).map(
    (status): PlantedBreach => ({
      invariant: 'nothingDoneWasNotWritten',
      when: `the network has the message of what ended as ${status}`,
      plant: (evidence) => ends(written(evidence).row, status, status === 'failed' ? 'upstream_timeout' : null),
    }),
  ),
  {
    invariant: 'noWriteAfterTheEnd',
    when: 'the network has a message later than the end',
    plant: (evidence) => {
      const one = whole(evidence, ({ row, submission }) => row.status === 'succeeded' && submission.marker !== null);
      writeOf(evidence, one).at = one.row.updated_at + 300;
      return one.row.id;
    },
  },
  {
    invariant: 'everyWriteWasAskedFor',
    when: 'the network has a message that nobody sent',
    plant: (evidence) => {
      evidence.ledger.push({ account: 'a', kind: 'message', text: 'out of nowhere', at: evidence.run.calm_at });
      return 'out of nowhere';
    },
  },
  {
    invariant: 'everyWriteWasAskedFor',
    when: 'the network has a message whose operation is not there',
    plant: (evidence) => {
      const { row, submission } = written(evidence);
      evidence.rows.operations = evidence.rows.operations.filter((one) => one !== row);
      return submission.key;
    },
  },
  {
    invariant: 'writesAreOfOneAccount',
    when: 'a message was written as another account',
    plant: (evidence) => {
      const { second } = inTurn(evidence, true);
      writeOf(evidence, second).account = 'somebody else';
      return 'somebody else';
    },
  },
  {
    invariant: 'unknownIsOfWrites',
    when: 'a read is outcome_unknown',
    plant: (evidence) => ends(read(evidence).row, 'outcome_unknown', null),
  },
  {
    invariant: 'neverInternalError',
    when: 'an operation failed with internal_error, in the middle of a fault',
    plant: (evidence) => ends(read(evidence).row, 'failed', 'internal_error'),
  },
  {
    invariant: 'everyFailureHasACause',
    when: 'a write is outcome_unknown and nothing failed',
    plant: (evidence) => {
      withoutFaults(evidence);
      return ends(written(evidence).row, 'outcome_unknown', null);
    },
  },
  {
    invariant: 'everyFailureHasACause',
    when: 'a worker was lost while only a receiver was dead',
    plant: (evidence) => {
      const { from, to } = { from: evidence.run.started_at, to: evidence.run.read_at };
      evidence.run.faults = [{ kind: 'receiver', target: 'receiver-1', from, to }];
      return ends(read(evidence).row, 'failed', 'worker_lost');
    },
  },
  {
    invariant: 'everyFailureHasACause',
    when: 'the browser was unavailable while only the database was away',
    plant: (evidence) => {
      const { from, to } = { from: evidence.run.started_at, to: evidence.run.read_at };
      evidence.run.faults = [{ kind: 'kill', target: 'postgres', from, to }];
      return ends(read(evidence).row, 'failed', 'browser_unavailable');
    },
  },
  {
    invariant: 'everyFailureHasACause',
    when: 'the provider failed for another account',
    plant: (evidence) => {
      const [first, second] = new Set(evidence.ledger.map(({ account }) => account));
      const { from, to } = { from: evidence.run.started_at, to: evidence.run.read_at };
      evidence.run.faults = [{ kind: 'provider error', target: second ?? '', from, to }];
      const one = whole(
        evidence,
        (other) => writeOf(evidence, other)?.account === first && other.submission.marker !== null,
      );
      return ends(one.row, 'outcome_unknown', null);
    },
  },
  {
    invariant: 'endsAsAsked',
    when: 'a submission that asked to fail succeeded',
    plant: (evidence) => ends(whole(evidence, (one) => one.submission.expected !== undefined).row, 'succeeded', null),
  },
  {
    invariant: 'endIsWhole',
    when: 'a success has the code of a failure',
    plant: (evidence) => {
      const { row } = read(evidence);
      row.error_code = 'proxy_error';
      return row.id;
    },
  },
  {
    invariant: 'endIsWhole',
    when: 'an unknown outcome has no evidence',
    plant: (evidence) => {
      const { row } = written(evidence);
      ends(row, 'outcome_unknown', null);
      row.evidence_fault = null;
      return row.id;
    },
  },
  {
    invariant: 'endIsWhole',
    when: 'an attempt of what has ended still runs',
    plant: (evidence) => {
      const { row } = read(evidence);
      row.attempts.at(-1)!.status = 'running';
      return row.id;
    },
  },
  {
    invariant: 'timelineIsOneWalk',
    when: 'a step is missing from the timeline',
    plant: (evidence) => {
      const { row } = read(evidence);
      row.timeline.splice(1, 1);
      return row.id;
    },
  },
  {
    invariant: 'timelineIsOneWalk',
    when: 'an operation went on after its end',
    plant: (evidence) => {
      const { row } = read(evidence);
      row.timeline.push({ from: 'succeeded', to: 'running', reason: 'started', at: row.updated_at });
      return ends(row, 'running', null);
    },
  },
  {
    invariant: 'timelineIsOneWalk',
    when: 'the timeline ends elsewhere than the row',
    plant: (evidence) => {
      const { row } = read(evidence);
      row.status = 'skipped';
      return row.id;
    },
  },
  {
    invariant: 'attemptsFollowEachOther',
    when: 'an operation was tried again after a success',
    plant: (evidence) => {
      const { row } = read(evidence);
      const last = row.attempts.at(-1)!;
      row.attempts.push({ ...last, id: 'again', number: last.number + 1 });
      return row.id;
    },
  },
  {
    invariant: 'noAttemptAfterTheBoundary',
    when: 'a write of a simulated connection was tried again past its boundary',
    plant: (evidence) => {
      const { row } = whole(
        evidence,
        (one) =>
          one.row.capability === 'social.message.send' &&
          one.submission.marker === null &&
          one.row.attempts.length === 1,
      );
      row.attempts.unshift({ ...row.attempts[0]!, id: 'lost', status: 'abandoned', phase: 'dispatching' });
      row.attempts[1]!.number = 2;
      return row.id;
    },
  },
  {
    invariant: 'ranInOrder',
    when: 'an operation ended before the one that was accepted before it was sent',
    plant: (evidence) => {
      const { first, second } = inTurn(evidence, false);
      first.row.updated_at = second.row.updated_at + 1;
      return first.row.id;
    },
  },
  {
    invariant: 'ranInOrder',
    when: 'an operation ended before the one that was accepted before it was stored, though it was sent before that',
    plant: (evidence) => {
      const { first, second } = inTurn(evidence, false);
      second.submission.sent_at = first.submission.sent_at - 1;
      first.row.updated_at = second.row.updated_at + 1;
      return first.row.id;
    },
  },
  {
    invariant: 'ranInOrder',
    when: 'an operation was never run, and those behind it were',
    plant: (evidence) => {
      const { row } = inTurn(evidence, false).first;
      row.attempts = [];
      return ends(row, 'queued', null);
    },
  },
  {
    invariant: 'writtenInOrder',
    when: 'the network saw a message before the one that was accepted before it was sent',
    plant: (evidence) => {
      const { first, second } = inTurn(evidence, true);
      writeOf(evidence, first).at = writeOf(evidence, second).at + 1;
      return first.row.id;
    },
  },
  {
    invariant: 'oneRunsAtATime',
    when: 'two attempts of a connection overlap',
    plant: (evidence) => {
      const { first, second } = inTurn(evidence, false);
      first.row.attempts.at(-1)!.completed_at = second.row.attempts[0]!.started_at + 10;
      return first.row.connection_id;
    },
  },
  {
    invariant: 'everyMatchHasADelivery',
    when: 'an event has no delivery for a subscription that matched',
    plant: (evidence) => {
      const index = evidence.rows.deliveries.findIndex(({ status }) => status === 'delivered');
      return evidence.rows.deliveries.splice(index, 1)[0]!.event_id;
    },
  },
  {
    invariant: 'everyMatchHasADelivery',
    when: 'an event has two deliveries for one subscription',
    plant: (evidence) => {
      const delivery = evidence.rows.deliveries[0]!;
      evidence.rows.deliveries.push({ ...delivery, id: 'second' });
      return delivery.event_id;
    },
  },
  {
    invariant: 'effectsAreOfSuccesses',
    when: 'the event of a success is missing',
    plant: (evidence) => {
      const { row } = whole(
        evidence,
        (one) =>
          one.row.capability === 'social.message.send' &&
          one.row.status === 'succeeded' &&
          one.submission.marker === null,
      );
      const id = `sim-${row.id}-sent`;
      evidence.rows.events = evidence.rows.events.filter(({ provider_event_id }) => provider_event_id !== id);
      return row.id;
    },
  },
  {
    invariant: 'effectsAreOfSuccesses',
    when: 'an operation failed, and its event is there',
    plant: (evidence) => ends(read(evidence).row, 'failed', 'worker_lost'),
  },
  {
    invariant: 'effectsAreOfSuccesses',
    when: 'an event is of an operation that is not there',
    plant: (evidence) => {
      const id = 'ffffffff-0000-7000-8000-000000000000';
      evidence.rows.events[0]!.provider_event_id = `sim-${id}-received`;
      return id;
    },
  },
  {
    invariant: 'shownEndsStand',
    when: 'a client was shown a success that is none',
    plant: (evidence) => {
      const failed = evidence.rows.operations.find(({ status }) => status === 'failed')!;
      evidence.seen?.push({ operation_id: failed.id, at: failed.updated_at, status: 'succeeded' });
      return failed.id;
    },
  },
  {
    invariant: 'shownEndsStand',
    when: 'what a client saw the end of runs again',
    plant: (evidence) => ends(read(evidence).row, 'running', null),
  },
  {
    invariant: 'noDeliveryIsGivenUpEarly',
    when: 'five attempts were made at once',
    plant: (evidence) => {
      const delivery = evidence.rows.deliveries.find(({ status }) => status === 'delivered')!;
      const callback = evidence.callbacks.find(({ delivery_id }) => delivery_id === delivery.id)!;
      const burnt = Array.from({ length: 5 }, (_, i) => ({ ...callback, at: callback.at + 10 * i, status: 500 }));
      evidence.callbacks = [...evidence.callbacks.filter((one) => one.delivery_id !== delivery.id), ...burnt];
      delivery.status = 'failed';
      return delivery.id;
    },
  },
  {
    invariant: 'noDeliveryIsGivenUpEarly',
    when: 'a delivery is given up a minute after its event',
    plant: (evidence) => {
      const delivery = evidence.rows.deliveries.find(({ status }) => status === 'delivered')!;
      evidence.callbacks = evidence.callbacks.filter((one) => one.delivery_id !== delivery.id);
      const event = evidence.rows.events.find(({ id }) => id === delivery.event_id)!;
      event.received_at = evidence.run.read_at - 60_000;
      delivery.status = 'failed';
      return delivery.id;
    },
  },
  {
    invariant: 'everyDeliveryMatches',
    when: 'a delivery is of an event that is not there',
    plant: (evidence) => {
      evidence.rows.deliveries[0]!.event_id = 'no such event';
      return 'no such event';
    },
  },
  {
    invariant: 'everyDeliveryMatches',
    when: 'a delivery takes an event to a subscription that does not list it',
    plant: (evidence) => {
      const other = evidence.rows.subscriptions.find(({ event_types }) => event_types[0] === 'message_received')!;
      const events = new Set(
        evidence.rows.events.flatMap((one) => (one.connection_id === other.connection_id ? one.id : [])),
      );
      const delivery = evidence.rows.deliveries.find(({ event_id }) => events.has(event_id))!;
      delivery.subscription_id = other.id;
      return delivery.id;
    },
  },
  {
    invariant: 'everyDeliveryMatches',
    when: 'a delivery takes an event to another connection',
    plant: (evidence) => {
      const delivery = evidence.rows.deliveries[0]!;
      delivery.subscription_id = evidence.rows.subscriptions.at(-1)!.id;
      return delivery.id;
    },
  },
  {
    invariant: 'everyDeliveryArrived',
    when: 'no receiver has the callback of a delivery that counts as delivered',
    plant: (evidence) => {
      const { id } = evidence.rows.deliveries.find(({ status }) => status === 'delivered')!;
      evidence.callbacks = evidence.callbacks.filter(({ delivery_id }) => delivery_id !== id);
      return id;
    },
  },
  {
    invariant: 'everyDeliveryArrived',
    when: 'a delivery failed and no receiver did',
    plant: (evidence) => {
      withoutFaults(evidence);
      const delivery = evidence.rows.deliveries.find(({ status }) => status === 'delivered')!;
      evidence.callbacks = evidence.callbacks.filter(({ delivery_id }) => delivery_id !== delivery.id);
      delivery.status = 'failed';
      return delivery.id;
    },
  },
  {
    invariant: 'everyDeliveryArrived',
    when: 'a delivery is still pending, long after its event',
    plant: (evidence) => {
      withoutFaults(evidence);
      const delivery = evidence.rows.deliveries.find(({ status }) => status === 'delivered')!;
      evidence.callbacks = evidence.callbacks.filter(({ delivery_id }) => delivery_id !== delivery.id);
      delivery.status = 'pending';
      return delivery.id;
    },
  },
  {
    invariant: 'everyCallbackIsSigned',
    when: 'a signature is wrong',
    plant: (evidence) => {
      evidence.callbacks[0]!.signature_valid = false;
      return evidence.callbacks[0]!.delivery_id;
    },
  },
  {
    invariant: 'everyCallbackIsOfADelivery',
    when: 'a callback is of a delivery that is not there',
    plant: (evidence) => {
      evidence.callbacks[0]!.delivery_id = 'no such delivery';
      return 'no such delivery';
    },
  },
  {
    invariant: 'everyCallbackIsOfADelivery',
    when: 'a callback tells another event than its delivery is of',
    plant: (evidence) => {
      evidence.callbacks[0]!.event_id = 'another event';
      return 'another event';
    },
  },
  {
    invariant: 'everyCallbackIsOfADelivery',
    when: 'a callback tells another connection',
    plant: (evidence) => {
      evidence.callbacks[0]!.connection_id = 'another connection';
      return 'another connection';
    },
  },
  {
    invariant: 'endsAreToldOnce',
    when: 'no event tells an end',
    plant: (evidence) => {
      const { row, event } = toldEnd(evidence);
      evidence.rows.events = evidence.rows.events.filter((one) => one !== event);
      return row.id;
    },
  },
  {
    invariant: 'endsAreToldOnce',
    when: 'two events tell an end',
    plant: (evidence) => {
      const { row, event } = toldEnd(evidence);
      evidence.rows.events.push({ ...event, id: 'told again' });
      return row.id;
    },
  },
  {
    invariant: 'endsAreToldOnce',
    when: 'an end has no delivery to the subscription of the workspace',
    plant: (evidence) => {
      const { row, deliveries } = toldEnd(evidence);
      const [lost] = deliveries;
      evidence.rows.deliveries = evidence.rows.deliveries.filter((one) => one !== lost);
      return row.id;
    },
  },
  {
    invariant: 'endsAreToldOnce',
    when: 'an end has two deliveries to the subscription of the workspace',
    plant: (evidence) => {
      const { row, deliveries } = toldEnd(evidence);
      evidence.rows.deliveries.push({ ...deliveries[0]!, id: 'delivered again' });
      return row.id;
    },
  },
  {
    invariant: 'toldEndsAreEnds',
    when: 'an end was told of what has not ended',
    plant: (evidence) => ends(toldEnd(evidence).row, 'queued', null),
  },
  {
    invariant: 'toldEndsAreEnds',
    when: 'an end was told of what is not there',
    plant: (evidence) => {
      const { row } = toldEnd(evidence);
      evidence.rows.operations = evidence.rows.operations.filter((one) => one !== row);
      return row.id;
    },
  },
  {
    invariant: 'mailboxesHoldLiveOperations',
    when: 'a mailbox is of no connection',
    plant: (evidence) => {
      evidence.rows.jobs.push({ queue: 'mailbox-1', id: 'nobody', state: 'created', from: 'an id' });
      return 'nobody';
    },
  },
  {
    invariant: 'mailboxesHoldLiveOperations',
    when: 'a queued operation has no mailbox',
    plant: (evidence) => ends(read(evidence).row, 'queued', null),
  },
  {
    invariant: 'mailboxesHoldLiveOperations',
    when: 'a mailbox is in the queue of another partition',
    plant: (evidence) => {
      const job = evidence.rows.jobs.find(({ queue }) => queue.startsWith('mailbox-'))!;
      job.queue = job.queue === 'mailbox-0' ? 'mailbox-1' : 'mailbox-0';
      return job.from!;
    },
  },
  {
    invariant: 'mailboxesHoldLiveOperations',
    when: 'the mark of a mailbox is beyond what has not ended',
    plant: (evidence) => {
      const job = evidence.rows.jobs.find(({ queue }) => queue.startsWith('mailbox-'))!;
      const id = job.from!;
      job.from = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      return id;
    },
  },
  {
    invariant: 'noOrphanWasSeen',
    when: 'an operation was seen without a mailbox while it ran',
    plant: (evidence) => orphaned(evidence, null),
  },
  {
    invariant: 'noOrphanWasSeen',
    when: 'the mark of a mailbox was seen above an operation that had not ended',
    plant: (evidence) => orphaned(evidence, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
  },
  {
    invariant: 'openMailboxesAreInHand',
    when: 'a mailbox is open, and what is queued in it waits behind nothing',
    plant: (evidence) => {
      const { id, connection_id } = read(evidence).row;
      const queue = `mailbox-${partitionOf(connection_id)}`;
      evidence.rows.jobs = evidence.rows.jobs.filter((job) => job.id !== connection_id);
      evidence.rows.jobs.push({ queue, id: connection_id, state: 'active', from: id });
      for (const row of evidence.rows.operations)
        if (row.connection_id === connection_id && row.status === 'waiting_user') ends(row, 'succeeded', null);
      return ends(read(evidence).row, 'queued', null);
    },
  },
  {
    invariant: 'oneIsUnderWay',
    when: 'two operations of a connection are under way',
    plant: (evidence) => {
      const waiting = evidence.rows.operations.find(({ status }) => status === 'waiting_user')!;
      const beside = { ...waiting, id: 'another one', timeline: [...waiting.timeline] };
      evidence.rows.operations.push(beside);
      return ends(beside, 'running', null);
    },
  },
  {
    invariant: 'noDeliveryIsLeftSending',
    when: 'a delivery is still sending',
    plant: (evidence) => {
      evidence.rows.deliveries[0]!.status = 'sending';
      return evidence.rows.deliveries[0]!.id;
    },
  },
  {
    invariant: 'jobsAreOfWaitingSubscriptions',
    when: 'a subscription with a delivery to make has no job',
    plant: (evidence) => {
      const index = evidence.rows.jobs.findIndex(({ queue }) => queue.startsWith('delivery-'));
      return evidence.rows.jobs.splice(index, 1)[0]!.id;
    },
  },
  {
    invariant: 'jobsAreOfWaitingSubscriptions',
    when: 'a job is left of a subscription that has nothing to deliver',
    plant: (evidence) => {
      const { id, connection_id } = evidence.rows.subscriptions.find(
        ({ event_types }) => event_types[0] === 'message_received',
      )!;
      evidence.rows.jobs.push({ queue: `delivery-${partitionOf(connection_id!)}`, id, state: 'active' });
      return id;
    },
  },
  {
    invariant: 'filesAreOfSuccesses',
    when: 'parts of a file are left of a failure',
    plant: (evidence) => {
      const { operation_id } = evidence.rows.file_parts[0]!;
      return ends(whole(evidence, ({ row }) => row.id === operation_id).row, 'failed', 'upstream_error');
    },
  },
  {
    invariant: 'filesAreOfSuccesses',
    when: 'parts of a file are of an earlier attempt',
    plant: (evidence) => {
      evidence.rows.file_parts[0]!.attempt_id = 'an earlier attempt';
      return 'an earlier attempt';
    },
  },
  {
    invariant: 'listenersAreAlive',
    when: 'a listener is connected and was not heard of for a minute',
    plant: (evidence) => {
      const listener = evidence.rows.listeners[0]!;
      listener.heartbeat_at = evidence.run.read_at - 60_000;
      return listener.connection_id;
    },
  },
  {
    invariant: 'everyPartitionIsOwned',
    when: 'a partition has no owner',
    plant: (evidence) => {
      evidence.rows.partitions[7]!.owned = false;
      return 'partition 7 ';
    },
  },
  {
    invariant: 'memoryStaysLevel',
    when: 'the memory of a node grows by 1 GiB',
    plant: (evidence) => growing(evidence, 'rss_mib', 1024),
  },
  {
    invariant: 'handlesStayLevel',
    when: 'the handles of a node grow by 300',
    plant: (evidence) => growing(evidence, 'handles', 300),
  },
  {
    invariant: 'connectionsStayLevel',
    when: 'the connections of a node grow by 40',
    plant: (evidence) => growing(evidence, 'database_connections', 40),
  },
  {
    invariant: 'contextsStayLevel',
    when: 'the contexts of a node grow by 40',
    plant: (evidence) => growing(evidence, 'contexts', 40),
  },
];
