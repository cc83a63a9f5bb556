import type {
  CallbackRecord,
  Evidence,
  FaultRecord,
  LedgerRecord,
  OperationRecord,
  Rows,
  SubmissionRecord,
} from '../../bench/scenarios/chaos/evidence.js';
import { PARTITIONS, partitionOf } from '../../storage/model/records.js';

/**
 * Evidence of a run in which every promise was kept, made from a seed: clients whose answers are lost and who repeat, operations
 * that are taken over, unknown, canceled or never answered, times that are equal, a node whose clock is wrong, callbacks made twice.
 */
export interface EvidenceOptions {
  seed: number;
  connections: number;
  /** Submissions of each connection. */
  operations: number;
}

const BEGIN = 1_800_000_000_000;
/** What the clock of a node is off by, while one is. */
const CLOCK_OFF_ms = 180_000;
const FAULTS = ['kill', 'browser', 'database', 'link_deaf', 'provider', 'receiver', 'clock', 'thread'] as const;

type Random = (bound: number) => number;

/** Mulberry32: whole numbers from 0 to below the bound. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

/** The evidence while it is being made. */
interface Making {
  random: Random;
  id: () => string;
  evidence: Evidence;
}

/** A submission on its way: `stored` is when its row was, null when it never was. */
interface Sent {
  submission: SubmissionRecord;
  id: string;
  stored: number | null;
  social: boolean;
}

export function keptEvidence({ seed, connections, operations }: EvidenceOptions): Evidence {
  const random = randomFrom(seed);
  let ids = 0;
  const id = () => `00000000-0000-7000-8000-${(++ids).toString(16).padStart(12, '0')}`;
  const making: Making = { random, id, evidence: emptyEvidence(seed) };
  const { evidence } = making;
  evidence.run.faults = FAULTS.map((kind, i): FaultRecord => {
    const from = BEGIN + 500 * i + random(500);
    return { kind, target: kind === 'kill' ? 'node 2' : 'any', from, to: from + random(400) };
  });
  for (let i = 0; i < connections; i++) runConnection(making, i % 2 === 0, operations);
  const ends = evidence.rows.operations.map((operation) => operation.updated_at);
  const last = ends.reduce((a, b) => Math.max(a, b), BEGIN + 60_000);
  evidence.run.calm_at = last;
  evidence.run.read_at = last + 180_000;
  waitForUser(making);
  deliverEvents(making);
  tellEnds(making);
  ownEverything(making);
  return evidence;
}

function emptyEvidence(seed: number): Evidence {
  return {
    run: { seed, commit: 'abc', nodes: 3, started_at: BEGIN, calm_at: 0, read_at: 0, faults: [] },
    submissions: [],
    cancels: [],
    seen: [],
    ledger: [],
    callbacks: [],
    samples: [],
    rows: {
      operations: [],
      events: [],
      subscriptions: [],
      deliveries: [],
      jobs: [],
      file_parts: [],
      listeners: [],
      partitions: [],
    },
  };
}

function runConnection(making: Making, social: boolean, operations: number): void {
  const { random, id } = making;
  const connection = id();
  const sent: Sent[] = [];
  let at = BEGIN + random(50);
  for (let i = 0; i < operations; i++) {
    const next = submit(making, connection, social, at);
    sent.push(next);
    const { sent_at, accepted_at } = next.submission;
    // Every third is under way beside the one before it, so that neither comes first.
    at = random(3) === 0 ? sent_at + random(3) : (accepted_at ?? sent_at + 80) + 1 + random(40);
  }
  const stored = sent.filter((one) => one.stored !== null);
  let free = 0;
  for (const one of stored.sort((a, b) => (a.stored ?? 0) - (b.stored ?? 0))) free = run(making, one, free);
}

function submit(making: Making, connection_id: string, social: boolean, sent_at: number): Sent {
  const { random, evidence } = making;
  const id = making.id();
  const write = random(2) === 0;
  const submission: SubmissionRecord = {
    key: `key ${id}`,
    connection_id,
    capability: write ? 'social.message.send' : 'social.identity.get',
    marker: write && social ? `marker ${id}.` : null,
    sent_at,
    accepted_at: null,
    operation_id: null,
    answers: [],
  };
  if (!social && random(6) === 0) submission.expected = write ? ['outcome_unknown'] : ['provider_not_found'];
  evidence.submissions.push(submission);
  const stored = answer(making, submission, id);
  return { submission, id, stored, social };
}

/** How the submission was answered; gives when it was stored. */
function answer({ random }: Making, submission: SubmissionRecord, id: string): number | null {
  const { sent_at, answers } = submission;
  const none = (at: number, status = 0) =>
    answers.push({ node: random(3), at, status, operation_id: null, replayed: false });
  const accept = (at: number, replayed: boolean) => {
    answers.push({ node: random(3), at, status: replayed ? 200 : 202, operation_id: id, replayed });
    submission.accepted_at ??= at;
    submission.operation_id = id;
  };
  const stored = sent_at + random(5);
  switch (random(8)) {
    case 0: // the answer was lost after the commit
      none(stored + random(60));
      accept(stored + 60 + random(60), true);
      return stored;
    case 1: // nothing was stored at first
      none(stored, 503);
      accept(stored + 50, false);
      return stored + 40;
    case 2: // the repetition overtook the first answer
      accept(stored + 30, true);
      accept(stored + 31, false);
      return stored;
    case 3: // its client gave up; it may be there or not
      none(stored + 40);
      return random(2) === 0 ? null : stored;
    default:
      accept(stored + random(4), false);
      return stored;
  }
}

/** One operation from its turn to its end; gives its end. */
function run(making: Making, { submission, id, stored, social }: Sent, free: number): number {
  const { random, evidence } = making;
  const accepted = stored ?? 0;
  const operation: OperationRecord = {
    id,
    connection_id: submission.connection_id,
    capability: submission.capability,
    status: 'queued',
    error_code: null,
    evidence_fault: null,
    idempotency_key: submission.key,
    cancel_requested: false,
    created_at: accepted,
    updated_at: accepted,
    attempts: [],
    timeline: [{ from: null, to: 'queued', reason: 'submitted', at: accepted }],
  };
  evidence.rows.operations.push(operation);
  const begin = Math.max(accepted, free);
  if (begin > accepted && random(10) === 0) {
    evidence.cancels.push({ operation_id: id, at: accepted, status: 200 });
    operation.cancel_requested = true;
    end(operation, 'canceled', null, accepted);
    return free;
  }
  const clock = clockAt(evidence, submission.sent_at, begin) && random(2) === 0 ? CLOCK_OFF_ms : 0;
  const trouble = troubleAt(evidence, begin, random);
  let at = begin;
  if (trouble === 'lost') at = lose(making, operation, at, clock);
  begun(making, operation, at, clock);
  const over = at + random(12);
  const write = submission.capability === 'social.message.send';
  const [status, code] = endOf(submission, trouble, write);
  const attempt = operation.attempts.at(-1)!;
  const done = { succeeded: 'succeeded', outcome_unknown: 'outcome_unknown' }[status as string] ?? 'failed';
  Object.assign(attempt, { status: done, phase: write ? 'dispatching' : 'reading', completed_at: over + clock });
  if (status === 'succeeded') attempt.phase = 'done';
  const seen = status === 'succeeded' || (status === 'outcome_unknown' && random(2) === 0);
  if (submission.marker !== null && social && seen) evidence.ledger.push(ledgerOf(submission, at, over, random));
  if (status === 'succeeded' && !write && random(4) === 0) {
    evidence.rows.file_parts.push({ operation_id: id, attempt_id: attempt.id });
  }
  end(operation, status, code, over);
  return over;
}

type Trouble = 'lost' | 'unknown' | 'browser' | undefined;

function troubleAt({ run: { faults } }: Evidence, at: number, random: Random): Trouble {
  const under = faults.find(({ from, to }) => from <= at && at <= to);
  if (!under || random(2) === 0) return undefined;
  if (under.kind === 'browser') return 'browser';
  if (under.kind === 'receiver') return undefined;
  return under.kind !== 'provider' && random(2) === 0 ? 'lost' : 'unknown';
}

const clockAt = ({ run: { faults } }: Evidence, from: number, to: number) =>
  faults.some((fault) => fault.kind === 'clock' && fault.from <= to && from <= fault.to);

function endOf({ expected }: SubmissionRecord, trouble: Trouble, write: boolean): [string, string | null] {
  if (expected?.[0] === 'outcome_unknown') return ['outcome_unknown', null];
  if (expected?.[0]) return ['failed', expected[0]];
  if (trouble === 'browser') return ['failed', 'browser_unavailable'];
  return trouble === 'unknown' && write ? ['outcome_unknown', null] : ['succeeded', null];
}

function begun({ id }: Making, operation: OperationRecord, at: number, clock: number): void {
  const number = operation.attempts.length + 1;
  const started_at = at + clock;
  const phase = operation.capability === 'social.message.send' ? 'preparing' : 'reading';
  operation.attempts.push({ id: id(), number, status: 'running', phase, started_at, completed_at: null });
  operation.timeline.push({ from: operation.status, to: 'running', reason: 'started', at: started_at });
  operation.status = 'running';
}

/** An attempt whose worker was lost before the write boundary; gives when the next may begin. */
function lose(making: Making, operation: OperationRecord, at: number, clock: number): number {
  begun(making, operation, at, clock);
  const lost = at + 1 + making.random(40);
  Object.assign(operation.attempts.at(-1)!, { status: 'abandoned', completed_at: lost + clock });
  operation.timeline.push({ from: 'running', to: 'queued', reason: 'worker_lost', at: lost });
  operation.status = 'queued';
  return lost;
}

function end(operation: OperationRecord, status: string, code: string | null, at: number): void {
  operation.timeline.push({ from: operation.status, to: status, reason: code ?? status, at });
  const evidence_fault = status === 'outcome_unknown' ? 'worker_lost' : null;
  Object.assign(operation, { status, error_code: code, evidence_fault, updated_at: at });
}

function ledgerOf({ connection_id, marker }: SubmissionRecord, from: number, to: number, random: Random): LedgerRecord {
  const at = from + random(to - from + 1);
  return { account: `account of ${connection_id}`, kind: 'message', text: `Hello, ${marker} Bye.`, at };
}

/** A login that waits for a code, as its submission asked for. */
function waitForUser(making: Making): void {
  const { id, evidence } = making;
  const connection = id();
  const sent = submit(making, connection, false, BEGIN + 5);
  const [at, operationId] = [sent.stored ?? BEGIN + 5, sent.id];
  Object.assign(sent.submission, { capability: 'social.login', expected: ['waiting_user'] });
  const operation: OperationRecord = {
    id: operationId,
    connection_id: connection,
    capability: 'social.login',
    status: 'queued',
    error_code: null,
    evidence_fault: null,
    idempotency_key: sent.submission.key,
    cancel_requested: false,
    created_at: at,
    updated_at: at,
    attempts: [],
    timeline: [{ from: null, to: 'queued', reason: 'submitted', at }],
  };
  begun(making, operation, at, 0);
  operation.timeline.push({ from: 'running', to: 'waiting_user', reason: 'challenge_email', at });
  operation.status = 'waiting_user';
  evidence.rows.operations.push(operation);
  evidence.rows.jobs.push({
    queue: `mailbox-${partitionOf(connection)}`,
    id: connection,
    state: 'active',
    from: operationId,
  });
}

type Delivery = Rows['deliveries'][number];

/** Each success makes an event; connections have a subscription in use, one that lists another type, and one that was given up. */
function deliverEvents({ random, id, evidence }: Making): void {
  const { rows, callbacks, run: record } = evidence;
  const subscriptions = new Map<string, Rows['subscriptions']>();
  for (const connection of new Set(rows.operations.map((operation) => operation.connection_id))) {
    const base = { connection_id: connection, created_at: BEGIN - 10_000, callback_url: 'https://receiver-1/in' };
    const own = [
      { ...base, id: id(), event_types: ['message_sent'], active: true },
      { ...base, id: id(), event_types: ['message_received'], active: true },
      { ...base, id: id(), event_types: ['message_sent'], active: false },
    ];
    subscriptions.set(connection, own);
    rows.subscriptions.push(...own);
  }
  for (const { id: operation, connection_id, status, updated_at } of rows.operations) {
    evidence.seen?.push({ operation_id: operation, at: updated_at + random(9), status });
    if (status !== 'succeeded') continue;
    const provider_event_id = `sim-${operation}-sent`;
    const event = { id: id(), connection_id, type: 'message_sent', received_at: updated_at, provider_event_id };
    rows.events.push(event);
    const [used, , given] = subscriptions.get(connection_id) ?? [];
    const delivery = { id: id(), subscription_id: used!.id, event_id: event.id, status: 'delivered' };
    rows.deliveries.push(delivery, { ...delivery, id: id(), subscription_id: given!.id, status: 'canceled' });
    const dead = record.faults.some(({ kind, to }) => kind === 'receiver' && to >= updated_at) && random(20) === 0;
    if (dead) delivery.status = 'failed';
    else callbacks.push(...callbacksOf(delivery, connection_id, updated_at + random(20), random));
  }
  const pending = rows.deliveries.find(({ status }) => status === 'delivered');
  if (pending) waitAgain(evidence, pending);
}

/** Each end is told to a subscription of the workspace, which has a part of each connection. */
function tellEnds({ random, id, evidence }: Making): void {
  const { rows, callbacks } = evidence;
  const made = { event_types: ['operation.finished'], active: true, created_at: BEGIN - 10_000 };
  const whole = { ...made, id: id(), connection_id: null, callback_url: 'https://receiver-1/all' };
  rows.subscriptions.push(whole);
  const parts = new Map(
    [...new Set(rows.operations.map(({ connection_id }) => connection_id))].map((connection_id) => [
      connection_id,
      { ...whole, id: id(), connection_id, parent_id: whole.id },
    ]),
  );
  rows.subscriptions.push(...parts.values());
  for (const { id: operation, connection_id, status, updated_at } of rows.operations) {
    const part = parts.get(connection_id);
    if (!part || status === 'waiting_user') continue;
    const told = { type: 'operation.finished', provider_event_id: `operation.finished/${operation}` };
    const event = { ...told, id: id(), connection_id, received_at: updated_at + 1 };
    const delivery = { id: id(), subscription_id: part.id, event_id: event.id, status: 'delivered' };
    rows.events.push(event);
    rows.deliveries.push(delivery);
    callbacks.push(...callbacksOf(delivery, connection_id, event.received_at + random(20), random));
  }
}

function callbacksOf({ id, event_id }: Delivery, connection_id: string, at: number, random: Random): CallbackRecord[] {
  const callback = { receiver: 'receiver-1', event_id, delivery_id: id, connection_id, at, signature_valid: true };
  const taken = { ...callback, status: 204 };
  switch (random(6)) {
    case 0: // the answer was lost, or its sender was
      return [taken, { ...taken, at: at + 1_000 }];
    case 1:
      return [
        { ...callback, status: 503 },
        { ...taken, at: at + 1_000 },
      ];
    default:
      return [taken];
  }
}

/** The receiver took it, and its sender does not know: it is to be made again. */
function waitAgain({ rows }: Evidence, delivery: Delivery): void {
  delivery.status = 'pending';
  const { connection_id } = rows.subscriptions.find(({ id }) => id === delivery.subscription_id)!;
  rows.jobs.push({ queue: `delivery-${partitionOf(connection_id!)}`, id: delivery.subscription_id, state: 'created' });
}

function ownEverything({ random, id, evidence }: Making): void {
  const { rows, run: record, samples } = evidence;
  const node_id = id();
  for (let partition = 0; partition < PARTITIONS; partition++) {
    rows.partitions.push({ id: partition, epoch: 1 + random(9), node_id, owned: true });
  }
  const heartbeat_at = record.read_at - random(10_000);
  rows.listeners.push({ connection_id: id(), stream_status: 'connected', heartbeat_at });
  rows.listeners.push({ connection_id: id(), stream_status: 'degraded', heartbeat_at: null });
  for (let at = BEGIN; at < BEGIN + 300_000; at += 2_000) {
    const warm = Math.min(1, (at - BEGIN) / 100_000);
    samples.push({
      node: 0,
      pid: 100,
      at,
      rss_mib: 150 + 300 * warm + random(60),
      handles: 60 + random(20),
      database_connections: 20 + random(4),
      contexts: random(6),
    });
  }
}
