import typia from 'typia';
import { capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import { validateInput } from '../../../actors/capabilities/validation.js';
import { PROVIDERS } from '../../../actors/provider-traits.js';
import type { Submission, SubmitOutcome } from '../../../actors/system.js';
import type { ConnectionRef } from '../../../storage/connections/connections.js';
import type { AuditSender } from '../../../storage/model/audit.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { OperationRow } from '../../../storage/model/records.js';
import { wasSubmitted } from '../../../storage/operations/operations.js';
import { limitOf } from '../../../storage/workspaces/limits.js';
import { type Answer, invalid, invalidField, json } from '../../http/answer.js';
import type { JsonObject } from '../../http/body.js';
import { isPrintableKey } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route, type Services } from '../../http/route.js';
import { submissionTarget } from '../resources.js';
import { operationAnswer } from './operation-answer.js';
import { operationSchema, operationText, queuedOperationSchema } from './operation-json.js';

/** A request for work: the capability and its own input (contract: "Operations"). */
export interface OperationInput {
  /** The capability's name, one of those that the connection lists. */
  capability: string;
  /** The capability's own input. */
  input: Record<string, unknown>;
}

/** The answer to a dry run: the submission is valid, and nothing was stored (OPS-16). */
export interface DryRunJson {
  /** Always `true`: an invalid one is refused as the submission itself would be. */
  valid: true;
}

/** Sends need a scope of their own. Validation, which follows, refuses an unknown capability. */
function sendScopes({ capability }: JsonObject) {
  const send = typeof capability === 'string' && capabilityNamed(capability)?.send;
  return send ? (['social:send'] as const) : [];
}

/** Refuses an unknown capability and an input that is not valid for it (OPS-12). */
export function requireValidInput(
  capabilityName: string,
  input: Record<string, unknown>,
  connection: ConnectionRef,
  providerDomains: readonly string[] | undefined,
): void {
  const capability = capabilityNamed(capabilityName);
  if (!capability) throw invalidField('body.capability', 'the name of a capability', capabilityName);
  const domains = PROVIDERS[connection.provider].fileDomains ?? providerDomains;
  const errors = validateInput(capability, input, {
    ownActor: connection.actor_id,
    ...(domains && { providerDomains: domains }),
  });
  if (errors.length > 0) throw invalid(errors);
}

/** Why a submission is refused for now, for people. */
const OVERLOADED: Record<Extract<SubmitOutcome, { kind: 'overloaded' }>['what'], string> = {
  node: 'too many submissions wait already',
  connection: 'too many operations of the connection have not ended',
  workspace: 'too many operations of the workspace have not ended',
};

type Submitter = Services & Pick<Call<unknown, unknown, unknown>, 'audit' | 'context'>;

/**
 * Stores the submission through the owner's committer, with where it came from; `sender` null: what asks for it has an entry of its own in the
 * audit log. Throws HttpError unless it was created or replayed.
 */
export async function submit(
  call: Submitter,
  { sender = call.audit.sender, ...submission }: Omit<Submission, 'origin'> & { sender?: AuditSender | null },
): Promise<{ created: boolean; operation: OperationRow }> {
  const { system, load, drain, context, workspaceStored } = call;
  if (drain.draining) throw new HttpError('unavailable', 'the service is shutting down');
  const limited = await isWithinStored(call, submission);
  const { requestId, traceparent } = context;
  context.connectionId = submission.connectionId;
  const outcome = await system.submit({ ...submission, origin: { requestId, traceparent, sender } });
  switch (outcome.kind) {
    case 'created':
      if (limited) workspaceStored.accepted(submission.workspaceId, submission.input_bytes ?? 0);
      context.operationId = outcome.operation.id;
      return { created: true, operation: outcome.operation };
    case 'replayed': {
      context.operationId = outcome.operationId;
      const operation = await load.operation(outcome.operationId);
      if (!operation) throw new HttpError('not_found', 'the operation was deleted meanwhile');
      return { created: false, operation };
    }
    case 'conflict':
      throw new HttpError('idempotency_conflict');
    case 'not_found':
      throw new HttpError('not_found');
    case 'overloaded':
      throw new HttpError('overloaded', OVERLOADED[outcome.what]);
    case 'draining':
      throw new HttpError('unavailable', 'the service is shutting down');
    case 'failed':
      throw new HttpError('unavailable', 'the submission could not be stored; send it again with its key');
    case 'encryption_key_unavailable':
      throw new HttpError('encryption_key_unavailable', 'the input cannot be stored without an encryption key');
    default:
      return outcome satisfies never;
  }
}

/**
 * Whether the workspace is limited in what it stores (HTTP-27). Throws 409 `storage_full` where that is used up, but not for what was submitted
 * before: a client whose answer was lost learns that it is stored.
 */
async function isWithinStored(
  { db, context: { key }, limits, workspaceStored }: Submitter,
  { workspaceId, idempotencyKey }: Pick<Submission, 'workspaceId' | 'idempotencyKey'>,
): Promise<boolean> {
  const bound = key ? limitOf('stored_mib', key.limits, limits) : null;
  if (bound === null) return false;
  if (await workspaceStored.isBelow(bound, workspaceId)) return true;
  if (await wasSubmitted(db, workspaceId, idempotencyKey)) return true;
  throw new HttpError('storage_full');
}

async function submitOperation(call: Call<ConnectionRef, OperationInput, undefined>): Promise<Answer> {
  const { resource, body, key, headers, prefer, providerDomains } = call;
  const idempotencyKey = headers['idempotency-key'];
  if (!isPrintableKey(idempotencyKey)) {
    throw invalidField('headers.Idempotency-Key', '1-128 printable characters', idempotencyKey || undefined);
  }
  requireValidInput(body.capability, body.input, resource, providerDomains);
  if (prefer.dryRun) return json(200, { valid: true } satisfies DryRunJson, { 'Preference-Applied': 'dry-run' });
  const { created, operation } = await submit(call, {
    workspaceId: key.workspace_id,
    connectionId: resource.id,
    capability: body.capability,
    input: body.input,
    input_bytes: call.body_bytes,
    idempotencyKey,
  });
  if (!created) return operationAnswer(call.db, 200, operation, { 'Idempotency-Replayed': 'true' });
  const answerHeaders = { Location: `/v1/operations/${operation.id}`, 'Retry-After': '1' };
  return { status: 202, headers: answerHeaders, body: operationText(operation, null, null) };
}

export const submissionRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'submitOperation',
    audit: 'operation.submit',
    path: '/v1/connections/{connection_id}/operations',
    summary: 'Submit an operation',
    description:
      'Stores a request for work; it runs asynchronously, one operation of a connection after another. 202 means that it is stored, not that it worked: read the operation until it has ended. Sent again with its `Idempotency-Key`, a submission answers 200 with the first operation and never makes a second.',
    scopes: ['operations:write'],
    submits: true,
    body: {
      kind: 'json',
      limit_bytes: LIMITS.operation_body_bytes,
      validate: typia.createValidateEquals<OperationInput>(),
      schema: typia.json.schemas<[OperationInput]>(),
    },
    crowded: ({ connection_id }, system) => connection_id !== undefined && system.crowded(connection_id.toLowerCase()),
    resource: submissionTarget,
    bodyScopes: sendScopes,
    headers: { 'Idempotency-Key': 'required', Prefer: ['dry-run'] },
    answers: {
      200: {
        description: 'The operation that this key submitted before, as it is now; or the answer to `Prefer: dry-run`.',
        schema: [operationSchema, typia.json.schemas<[DryRunJson]>()],
        headers: ['Idempotency-Replayed', 'Preference-Applied'],
      },
      202: { description: 'Accepted and stored.', schema: queuedOperationSchema, headers: ['Location', 'Retry-After'] },
    },
    refusals: ['idempotency_conflict', 'storage_full', 'encryption_key_unavailable'],
    handle: submitOperation,
  }),
];
