import * as fields from '../fields.js';
import { codeOnly, person, type Row, work } from '../table.js';

/** Rows of operations; `waiting` holds while one waits for a code. They run in order. */

const KEYED = (key: string) => ({ 'Idempotency-Key': key });

export const operations: Row[] = [
  {
    title: 'Operations, submit: 202 Operation for a new submission (HTTP-19)',
    send: 'POST /v1/connections/{ada}/operations',
    headers: KEYED('first'),
    body: work('social.profile.get', { profile_id: 'ada-lovelace' }),
    status: 202,
    fields: fields.OPERATION,
    like: { status: 'queued', attempts: [], timeline: [{ from: null, to: 'queued' }], cancel_requested: false },
    carries: { location: /^\/v1\/operations\//, 'retry-after': '1', 'idempotency-replayed': undefined },
    keep: { operation: 'id' },
  },
  {
    title: 'Operations, submit: 200 Operation with Idempotency-Replayed for the same key and request',
    send: 'POST /v1/connections/{ada}/operations',
    headers: KEYED('first'),
    body: work('social.profile.get', { profile_id: 'ada-lovelace' }),
    status: 200,
    fields: fields.OPERATION,
    like: { id: '{operation}' },
    carries: { 'idempotency-replayed': 'true' },
  },
  {
    title: 'Operations, submit: 409 idempotency_conflict for the same key with different input',
    send: 'POST /v1/connections/{ada}/operations',
    headers: KEYED('first'),
    body: work('social.profile.get', { profile_id: 'grace-hopper' }),
    status: 409,
    answer: codeOnly('idempotency_conflict'),
  },
  {
    title: 'Operations, submit: a key is unique across the workspace, so another connection conflicts',
    send: 'POST /v1/connections/{remote}/operations',
    headers: KEYED('first'),
    body: work('social.profile.get', { profile_id: 'ada-lovelace' }),
    status: 409,
    answer: codeOnly('idempotency_conflict'),
  },
  {
    title: 'Operations, read: 200 Operation; wait answers when it is terminal (HTTP-18)',
    send: 'GET /v1/operations/{operation}',
    headers: { Prefer: 'wait=30' },
    status: 200,
    fields: fields.OPERATION,
    like: { status: 'succeeded', error_code: null, error_details: null, evidence: null, challenge: null },
    carries: { 'preference-applied': 'wait=30' },
  },
  {
    title: 'Operations, input: 200 with what was submitted (OPS-28)',
    send: 'GET /v1/operations/{operation}/input',
    status: 200,
    fields: ['operation_id', 'capability', 'input', 'hidden'],
    like: { operation_id: '{operation}', input: { profile_id: 'ada-lovelace' }, hidden: [] },
  },
  {
    title: 'Operations, list: newest first, with its cursor (OPS-15)',
    send: 'GET /v1/operations?connection_id={ada}&status=succeeded&limit=1',
    status: 200,
    fields: ['operations', 'next_cursor'],
    like: { operations: [{ id: '{operation}' }], next_cursor: null },
  },
  {
    title: 'Operations, submit: a message, whose text is sealed',
    send: 'POST /v1/connections/{ada}/operations',
    headers: KEYED('echo'),
    body: work('social.message.send', { recipient_actor_id: 'ACoAAGrace1', body: 'sealed' }),
    status: 202,
    fields: fields.OPERATION,
    keep: { message: 'id' },
  },
  {
    title: 'Operations, input: text of a message is hidden (OPS-28)',
    send: 'GET /v1/operations/{message}/input',
    status: 200,
    answer: {
      operation_id: '{message}',
      capability: 'social.message.send',
      input: { recipient_actor_id: 'ACoAAGrace1' },
      hidden: ['body'],
    },
  },
  {
    title: 'Operations, submit: a dry run stores nothing (OPS-16)',
    send: 'POST /v1/connections/{ada}/operations',
    headers: { ...KEYED('dry'), Prefer: 'dry-run' },
    body: work('social.identity.get'),
    status: 200,
    answer: { valid: true },
  },
  {
    title: 'Operations, challenge: 409 unless the challenge is current',
    send: 'POST /v1/operations/{operation}/challenge',
    body: { challenge_id: 'none', code: '000000' },
    status: 409,
    answer: codeOnly('challenge_not_accepting_code'),
  },
  {
    title: 'Operations, cancel: 200 Operation; terminal ones stay (OPS-5)',
    send: 'POST /v1/operations/{operation}/cancel',
    status: 200,
    fields: fields.OPERATION,
    like: { status: 'succeeded', cancel_requested: false },
  },
  {
    title: 'Operations, reconcile: 409 not_outcome_unknown',
    send: 'POST /v1/operations/{operation}/reconcile',
    status: 409,
    answer: codeOnly('not_outcome_unknown'),
  },
  {
    title: 'Operations, submit: a login that waits for a code',
    send: 'POST /v1/connections',
    body: person('sim-challenge-email'),
    status: 201,
    keep: { asked: 'id' },
  },
  {
    title: 'Operations, submit: a login that waits for a code',
    send: 'POST /v1/connections/{asked}/operations',
    headers: KEYED('login'),
    body: work('social.login'),
    status: 202,
    keep: { login: 'id' },
  },
];

export const waiting: Row[] = [
  {
    title: 'Connections, disconnect: 409 connection_busy while a lease is held (CONN-5)',
    send: 'POST /v1/connections/{asked}/disconnect',
    status: 409,
    answer: codeOnly('connection_busy'),
  },
  {
    title: 'Connections, delete: 409 connection_busy',
    send: 'DELETE /v1/connections/{asked}',
    status: 409,
    answer: codeOnly('connection_busy'),
  },
  {
    title: 'Operations, challenge: 409 for another challenge',
    send: 'POST /v1/operations/{login}/challenge',
    body: { challenge_id: '{nobody}', code: '000000' },
    status: 409,
    answer: codeOnly('challenge_not_accepting_code'),
  },
  {
    title: 'Operations, challenge: 202 {status:"accepted"}',
    send: 'POST /v1/operations/{login}/challenge',
    body: { challenge_id: '{challenge}', code: '000000' },
    status: 202,
    answer: { status: 'accepted' },
  },
  {
    title: 'Operations, challenge: 409 once it is answered (OPS-10)',
    send: 'POST /v1/operations/{login}/challenge',
    body: { challenge_id: '{challenge}', code: '000000' },
    status: 409,
    answer: codeOnly('challenge_not_accepting_code'),
  },
];
