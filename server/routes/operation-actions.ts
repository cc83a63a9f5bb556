import typia, { type tags } from 'typia';
import { HttpError } from '../../storage/model/errors.js';
import type { OperationRow } from '../../storage/model/records.js';
import { cancelOperation, reconcilable } from '../../storage/operations/operations.js';
import { type Answer, json } from '../http/answer.js';
import type { Printable } from '../http/fields.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';
import { giveCode } from './challenge-code.js';
import { operationAnswer } from './operation-answer.js';
import { operationSchema } from './operation-json.js';
import { operationResource } from './resources.js';

/** The user's answer to a challenge (contract: "Operations"). */
export interface ChallengeInput {
  /** `challenge.id` of the operation. */
  challenge_id: string & tags.MinLength<1> & tags.MaxLength<255>;
  /** Neither stored nor logged. */
  code: Printable<1, 32>;
}

/** The operation has the code; whether it is right shows in the operation. */
export interface CodeAcceptedJson {
  status: 'accepted';
}

/** The row records the request first, so that the owner sees it in any case; the signal only makes it look sooner. */
async function cancel({ db, system, load, resource }: Call<OperationRow, undefined, undefined>): Promise<Answer> {
  const outcome = await cancelOperation(db, resource.id);
  if (outcome === 'requested') {
    system.hint({ type: 'cancel', connectionId: resource.connection_id, operationId: resource.id });
  }
  const operation = await load.operation(resource.id);
  if (!operation) throw new HttpError('not_found');
  return operationAnswer(db, 200, operation);
}

async function challenge({
  db,
  system,
  resource,
  body,
}: Call<OperationRow, ChallengeInput, undefined>): Promise<Answer> {
  const outcome = await giveCode(db, system, {
    type: 'code',
    connectionId: resource.connection_id,
    operationId: resource.id,
    challengeId: body.challenge_id,
    code: body.code,
  });
  switch (outcome) {
    case 'taken':
      return json(202, { status: 'accepted' } satisfies CodeAcceptedJson);
    case 'refused':
      throw new HttpError('challenge_not_accepting_code');
    case 'unheard':
      throw new HttpError('unavailable', 'the code did not reach the operation, it may be given again');
    default:
      return outcome satisfies never;
  }
}

async function reconcile({ db, resource }: Call<OperationRow, undefined, undefined>): Promise<Answer> {
  const verdict = await reconcilable(db, resource);
  if (verdict === 'not_outcome_unknown') throw new HttpError('not_outcome_unknown');
  if (verdict === 'busy') throw new HttpError('connection_busy');
  return operationAnswer(db, 200, resource);
}

export const operationActionRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/operations/{operation_id}/challenge',
    summary: 'Answer the challenge an operation waits for',
    scopes: ['operations:write'],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<ChallengeInput>(),
      schema: typia.json.schemas<[ChallengeInput]>(),
    },
    resource: operationResource,
    answers: { 202: { description: 'The operation has the code.', schema: typia.json.schemas<[CodeAcceptedJson]>() } },
    refusals: ['challenge_not_accepting_code'],
    handle: challenge,
  }),
  route({
    method: 'POST',
    path: '/v1/operations/{operation_id}/cancel',
    summary: 'Request that an operation is cancelled',
    scopes: ['operations:write'],
    body: { kind: 'none' },
    resource: operationResource,
    answers: { 200: { description: 'The operation as it is now.', schema: operationSchema } },
    handle: cancel,
  }),
  route({
    method: 'POST',
    path: '/v1/operations/{operation_id}/reconcile',
    summary: 'Look for evidence of an unknown outcome',
    scopes: ['operations:write'],
    body: { kind: 'none' },
    resource: operationResource,
    answers: {
      200: { description: 'The operation, unchanged: there is no automatic evidence.', schema: operationSchema },
    },
    refusals: ['not_outcome_unknown', 'connection_busy'],
    handle: reconcile,
  }),
];
