import { randomUUID } from 'node:crypto';
import typia from 'typia';
import type { MessageText, ProviderId } from '../../actors/capabilities/fields.js';
import { type ConnectionRef, findConnectionByIdentity } from '../../storage/connections.js';
import type { OperationRow } from '../../storage/records.js';
import { type Answer, envelope, invalidField, json } from '../http/answer.js';
import { isPrintableKey, pathId } from '../http/fields.js';
import { BODY_bytes, INVITATION_WAIT_ms } from '../http/limits.js';
import { type Call, type Lookup, type Route, route } from '../http/route.js';
import { identityKey } from './connections.js';
import { awaitSettled } from './operations.js';
import { requireValidInput, submit } from './submission.js';

/** The older request shape of an invitation (spec: "Compatibility invitation route"). */
export interface InvitationInput {
  /** Recipient's profile hash id. */
  hash_id: ProviderId;
  message?: MessageText<1, 300>;
  /** Adds the provider's raw answer, for diagnosis. */
  return_original?: boolean;
}

const CAPABILITY = 'social.invitation.send';

/** By connection id first, then by username (decisions: "Compatibility route"). */
async function accountResource({ params, key, db, load }: Lookup): Promise<ConnectionRef | undefined> {
  const account = params.account_id ?? '';
  const id = pathId(account);
  const byId = id === undefined ? undefined : await load.connectionRef(id);
  if (byId?.workspace_id === key.workspace_id) return byId;
  return account.includes('\0') ? undefined : findConnectionByIdentity(db, key.workspace_id, identityKey(account));
}

async function invite(call: Call<ConnectionRef, InvitationInput, undefined>): Promise<Answer> {
  const { resource, body, key, headers, prefer, providerDomains } = call;
  const idempotencyKey = headers['idempotency-key'] || randomUUID();
  if (!isPrintableKey(idempotencyKey))
    throw invalidField('headers.Idempotency-Key', '1-128 printable characters', idempotencyKey);
  const input = { recipient_actor_id: body.hash_id, ...(body.message !== undefined && { message: body.message }) };
  requireValidInput(CAPABILITY, input, resource, providerDomains);
  const { operation } = await submit(call, {
    workspaceId: key.workspace_id,
    connectionId: resource.id,
    capability: CAPABILITY,
    input,
    idempotencyKey,
  });
  // It is accepted: whatever hinders the wait, the answer is that it is under way.
  const settled = prefer.respondAsync
    ? null
    : await awaitSettled(call, operation, INVITATION_WAIT_ms).catch(() => null);
  return outcomeAnswer(settled ?? operation, body.return_original === true, {
    'Idempotency-Key': idempotencyKey,
    'X-Operation-Id': operation.id,
  });
}

/** How an operation's status looks to the older clients. */
function outcomeAnswer(operation: OperationRow, returnOriginal: boolean, headers: Record<string, string>): Answer {
  const details = { operation_id: operation.id };
  switch (operation.status) {
    case 'queued':
    case 'running':
    case 'waiting_user':
      return json(202, { data: { operation_id: operation.id, status: 'queued' } }, headers);
    case 'succeeded': {
      const { code, message, original } = operation.result ?? {};
      const result = { code: code ?? null, message: message ?? null };
      return json(
        200,
        { data: { result, ...(returnOriginal && { original: original ?? operation.result }) } },
        headers,
      );
    }
    case 'skipped': {
      const reason = String(operation.result?.reason ?? 'skipped');
      return envelope(409, reason, 'nothing was left to do', { ...details, reason }, headers);
    }
    case 'canceled':
      return envelope(409, 'canceled', 'the operation was canceled', details, headers);
    case 'outcome_unknown':
      return envelope(409, 'outcome_unknown', 'the invitation may have been sent', details, headers);
    case 'failed':
      return failureAnswer(operation, headers);
  }
}

function failureAnswer(operation: OperationRow, headers: Record<string, string>): Answer {
  const code = operation.error_code ?? 'internal_error';
  const details = { ...operation.error_details, operation_id: operation.id };
  if (code === 'connection_not_ready') return envelope(423, code, 'the account is not ready', details, headers);
  if (code === 'validation_error') return envelope(400, code, 'the request is not valid', details, headers);
  return envelope(424, code, 'the provider did not accept the invitation', details, headers);
}

export const invitationRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/accounts/{account_id}/linkedin/invite',
    summary: 'Send an invitation, in an older request shape',
    scopes: ['operations:write', 'social:send'],
    errors: 'envelope',
    body: { kind: 'json', limit_bytes: BODY_bytes, validate: typia.createValidateEquals<InvitationInput>() },
    resource: accountResource,
    handle: invite,
  }),
];
