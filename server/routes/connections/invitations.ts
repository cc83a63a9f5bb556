import { randomUUID } from 'node:crypto';
import typia from 'typia';
import { invitationSend } from '../../../actors/capabilities/sending.js';
import type { MessageText, ProviderId } from '../../../browser-pool/contract/fields.js';
import { type ConnectionRef, findConnectionByIdentity } from '../../../storage/connections/connections.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { OperationRow } from '../../../storage/model/records.js';
import { resultOf } from '../../../storage/operations/operations.js';
import { type Answer, type EnvelopeJson, envelope, invalidField, json, KeyedError } from '../../http/answer.js';
import { isPrintableKey, pathId, type Uuid } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Lookup, type Route, route } from '../../http/route.js';
import { awaitSettled } from '../operations/operations.js';
import { requireValidInput, submit } from '../operations/submission.js';
import { identityKey } from './connections.js';

/** An invitation in the older request shape (contract: "Compatibility invitation route"). */
export interface InvitationInput {
  /** Hash id of the person to invite. */
  hash_id: ProviderId;
  /** Note that comes with the invitation, 1 to 300 characters. */
  message?: MessageText<1, 300>;
  /** `true` adds the provider's raw answer, for diagnosis. */
  return_original?: boolean;
}

/** The provider's answer to an invitation. */
export interface InvitationSentJson {
  /** What came of it. */
  data: {
    /** The provider's answer. */
    result: {
      /** The provider's code: not every answer is a sent invitation. Null when it gave none. */
      code: string | null;
      /** The provider's words about it, null when it gave none. */
      message: string | null;
    };
    /** The provider's raw answer; only when the request set `return_original`. */
    original?: Record<string, unknown>;
  };
}

/** An invitation that is under way. */
export interface InvitationQueuedJson {
  /** The operation that sends it. */
  data: {
    /** Id of the operation. */
    operation_id: Uuid;
    /** Always `queued`: it has not ended. */
    status: 'queued';
  };
}

const envelopeSchema = typia.json.schemas<[EnvelopeJson]>();

/** By connection id first, then by username (COMPAT-1). */
async function accountResource({ params, key, db, load }: Lookup): Promise<ConnectionRef | undefined> {
  const account = params.account_id ?? '';
  const id = pathId(account);
  const byId = id === undefined ? undefined : await load.connectionRef(id);
  if (byId?.workspace_id === key.workspace_id) return byId;
  return account.includes('\0') ? undefined : findConnectionByIdentity(db, key.workspace_id, identityKey(account));
}

/** From here on every answer carries the key, so that a client which sent none can repeat what was not answered (COMPAT-1). */
async function invite(call: Call<ConnectionRef, InvitationInput, undefined>): Promise<Answer> {
  const idempotencyKey = call.headers['idempotency-key'] || randomUUID();
  if (!isPrintableKey(idempotencyKey))
    throw invalidField('headers.Idempotency-Key', '1-128 printable characters', idempotencyKey);
  try {
    return await inviteUnder(idempotencyKey, call);
  } catch (error) {
    throw new KeyedError(error, idempotencyKey);
  }
}

async function inviteUnder(
  idempotencyKey: string,
  call: Call<ConnectionRef, InvitationInput, undefined>,
): Promise<Answer> {
  const { resource, body, key, prefer, providerDomains } = call;
  const input = { recipient_actor_id: body.hash_id, ...(body.message !== undefined && { message: body.message }) };
  requireValidInput(invitationSend.name, input, resource, providerDomains);
  const { operation } = await submit(call, {
    workspaceId: key.workspace_id,
    connectionId: resource.id,
    capability: invitationSend.name,
    // The page program knows this field; no other route accepts it.
    input: body.return_original ? { ...input, return_original: true } : input,
    input_bytes: call.body_bytes,
    idempotencyKey,
  });
  // It is accepted: when the wait fails, the answer is that it is under way.
  const settled = prefer.respondAsync
    ? operation
    : await awaitSettled(call, operation, LIMITS.invitation_wait_ms).catch(() => operation);
  if (!settled) throw new HttpError('not_found', 'the operation was deleted meanwhile');
  return outcomeAnswer(settled, resultOf(call.db, settled), body.return_original === true, {
    'Idempotency-Key': idempotencyKey,
    'X-Operation-Id': operation.id,
  });
}

/** An operation's status in the older answer shape. */
function outcomeAnswer(
  operation: OperationRow,
  found: Record<string, unknown> | null,
  returnOriginal: boolean,
  headers: Record<string, string>,
): Answer {
  const details = { operation_id: operation.id };
  switch (operation.status) {
    case 'queued':
    case 'running':
    case 'waiting_user':
      return json(202, { data: { operation_id: operation.id, status: 'queued' } }, headers);
    case 'succeeded': {
      const { code, message, original } = found ?? {};
      const result = { code: code ?? null, message: message ?? null };
      return json(200, { data: { result, ...(returnOriginal && { original: original ?? found }) } }, headers);
    }
    case 'skipped': {
      const reason = String(found?.reason ?? 'skipped');
      return envelope(409, reason, 'nothing was left to do', { ...details, reason }, headers);
    }
    case 'canceled':
      return envelope(409, 'canceled', 'the operation was canceled', details, headers);
    case 'outcome_unknown':
      return envelope(409, 'outcome_unknown', 'the invitation may have been sent', details, headers);
    case 'failed':
      return failureAnswer(operation, headers);
    default:
      return operation.status satisfies never;
  }
}

function failureAnswer(operation: OperationRow, headers: Record<string, string>): Answer {
  const code = operation.error_code ?? 'internal_error';
  const details = { ...operation.error_details, operation_id: operation.id };
  if (code === 'connection_not_ready') return envelope(423, code, 'the account is not ready', details, headers);
  if (code === 'validation_error') return envelope(400, code, 'the request is not valid', details, headers);
  return envelope(424, code, 'the provider did not accept the invitation', details, headers);
}

const OPERATION_HEADERS = ['Idempotency-Key', 'X-Operation-Id'] as const;

export const invitationRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'sendInvitation',
    audit: 'operation.submit',
    path: '/v1/accounts/{account_id}/linkedin/invite',
    summary: 'Send an invitation, in an older request shape',
    description:
      'Submits `social.invitation.send` in an older request shape and waits for it up to five seconds. Errors have the envelope `{error: {code, message, details}}`. New clients submit operations instead.',
    scopes: ['operations:write', 'social:send'],
    errors: 'envelope',
    submits: true,
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<InvitationInput>(),
      schema: typia.json.schemas<[InvitationInput]>(),
    },
    resource: accountResource,
    headers: { 'Idempotency-Key': 'optional', Prefer: ['respond-async'] },
    waits: ({ respondAsync }) => !respondAsync,
    answers: {
      200: {
        description: 'The provider answered: `code` tells whether the invitation was sent.',
        schema: typia.json.schemas<[InvitationSentJson]>(),
        headers: OPERATION_HEADERS,
      },
      202: {
        description: 'Still under way, or `Prefer: respond-async`.',
        schema: typia.json.schemas<[InvitationQueuedJson]>(),
        headers: OPERATION_HEADERS,
      },
      409: {
        description:
          'The outcome is unknown (`outcome_unknown`, with `error.details.operation_id`), the operation was skipped or ' +
          'canceled, the key belongs to another request, or the storage of the workspace is full (`storage_full`).',
        schema: envelopeSchema,
        headers: OPERATION_HEADERS,
      },
      423: { description: 'The account is not ready.', schema: envelopeSchema, headers: OPERATION_HEADERS },
      424: { description: 'The provider failed or refused.', schema: envelopeSchema, headers: OPERATION_HEADERS },
      503: {
        description:
          'It may or may not have been accepted: send it again with the `Idempotency-Key` of this answer, which is ' +
          '`error.details.idempotency_key` too. Without one it was refused before any key was known.',
        schema: envelopeSchema,
        headers: ['Idempotency-Key', 'Retry-After'],
      },
    },
    refusals: ['idempotency_conflict', 'storage_full', 'encryption_key_unavailable'],
    handle: invite,
  }),
];
