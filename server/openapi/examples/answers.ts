import { capabilities } from '../../../actors/capabilities/catalogue.js';
import { messageSend } from '../../../actors/capabilities/sending.js';
import { OPERATION_ERRORS } from '../../../storage/model/error-codes.js';
import type { EnvelopeJson } from '../../http/answer.js';
import type { DryRunJson } from '../../routes/operations/submission.js';
import * as connections from './connections.js';
import { events } from './events.js';
import * as operations from './operations.js';
import * as subscriptions from './subscriptions.js';
import { IDEMPOTENCY_KEY, OPERATION } from './values.js';

/** Examples of one body, by name. */
export type NamedExamples = Readonly<Record<string, { summary?: string; value: unknown }>>;

const one = (value: unknown): NamedExamples => ({ example: { value } });

function refused(code: string, message: string, details: Record<string, unknown>): NamedExamples {
  return { [code]: { value: { error: { code, message, details } } satisfies EnvelopeJson } };
}

const operation_id = OPERATION;
const { details: notReady } = OPERATION_ERRORS.connection_not_ready;

const dryRun: DryRunJson = { valid: true };

/** By capability: named as the requests that they answer. */
const accepted = Object.fromEntries(
  capabilities.map((capability) => [capability.name, { value: operations.queued(capability) }]),
);

/**
 * What a route answers to the example of its request, by operation id and status, where the examples of the answer's type
 * would not fit to it.
 */
export const ANSWERS: Readonly<Record<string, Readonly<Record<number, NamedExamples>>>> = {
  createConnection: {
    201: { simulated: { value: connections.synthetic }, social: { value: connections.created } },
  },
  updateConnection: { 200: one(connections.patched) },
  submitOperation: {
    200: {
      replayed: { summary: 'The key had submitted it before', value: operations.succeeded(messageSend) },
      'dry-run': { summary: 'With Prefer: dry-run', value: dryRun },
    },
    202: accepted,
  },
  getOperation: {
    200: {
      succeeded: { value: operations.succeeded(messageSend) },
      queued: { value: operations.queued(messageSend) },
      running: { value: operations.running },
      waiting_user: { value: operations.waiting },
      failed: { value: operations.failed('upstream_error') },
      canceled: { value: operations.canceled },
      skipped: { value: operations.skipped },
      outcome_unknown: { value: operations.unknown[0] },
    },
  },
  cancelOperation: { 200: one(operations.canceled) },
  reconcileOperation: { 200: one(operations.unknown[0]) },
  sendInvitation: {
    409: {
      ...refused('outcome_unknown', 'the invitation may have been sent', { operation_id }),
      ...refused('already_connected', 'nothing was left to do', { operation_id, reason: 'already_connected' }),
      ...refused('canceled', 'the operation was canceled', { operation_id }),
      ...refused('idempotency_conflict', 'the key belongs to another request', { idempotency_key: IDEMPOTENCY_KEY }),
    },
    423: refused('connection_not_ready', 'the account is not ready', { retryable: false, ...notReady, operation_id }),
    424: refused('upstream_error', 'the provider did not accept the invitation', {
      retryable: true,
      upstream_status: 502,
      operation_id,
    }),
    503: refused('overloaded', 'too much waits already', { idempotency_key: IDEMPOTENCY_KEY }),
  },
  getEvent: { 200: Object.fromEntries(Object.values(events).map((value) => [value.type, { value }])) },
  getDeliveryBody: { 200: one(events.message_received) },
  recordSimulatedEvent: { 201: one(events.message_received) },
  updateSubscription: { 200: one(subscriptions.subscription) },
  changeSubscription: { 200: one(subscriptions.subscription) },
  createWorkspaceSubscription: { 201: one(subscriptions.createdOfWorkspace) },
  holdSubscription: { 200: one(subscriptions.held) },
  releaseSubscription: { 200: one(subscriptions.subscription) },
  replayDelivery: { 202: one(subscriptions.replayed) },
};
