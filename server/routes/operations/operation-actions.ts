import typia, { type tags } from 'typia';
import { HttpError } from '../../../storage/model/errors.js';
import type { OperationRow } from '../../../storage/model/records.js';
import { isLookRequested, requestLook } from '../../../storage/operations/looks.js';
import { cancelOperation, findOperations } from '../../../storage/operations/operations.js';
import { type Answer, json } from '../../http/answer.js';
import type { Printable } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { operationResource } from '../resources.js';
import { giveCode } from './challenge-code.js';
import { answerAsItIs, operationAnswer } from './operation-answer.js';
import { operationSchema, unknownOperationSchema } from './operation-json.js';
import { awaitWakeUps } from './operations.js';

/** The user's answer to a challenge (contract: "Operations"). */
export interface ChallengeInput {
  /** `challenge.id` of the operation. */
  challenge_id: string & tags.MinLength<1> & tags.MaxLength<255>;
  /** The code that the user got, 1 to 32 printable characters; it is neither stored nor logged. */
  code: Printable<1, 32>;
}

/** The operation has the code; whether it is right shows in the operation. */
export interface CodeAcceptedJson {
  /** Always `accepted`. */
  status: 'accepted';
}

/**
 * The row records the request first, so that the owner sees it in any case; the signal only makes it look sooner. Answers the row as the
 * request left it, whatever its owner does meanwhile.
 */
async function cancel(call: Call<OperationRow, undefined, undefined>): Promise<Answer> {
  const { db, system, audit, ended, resource } = call;
  const { outcome, row } = await db.transaction(async (tx) => {
    const canceled = await cancelOperation(tx, resource.id);
    if (canceled === 'requested' || typeof canceled === 'object') await audit.record(tx, [['operation', resource.id]]);
    const [left] = await findOperations(tx, [resource.id]);
    return { outcome: canceled, row: left };
  });
  if (outcome === 'requested' || outcome === 'repeated') {
    system.hint({ type: 'cancel', connectionId: resource.connection_id, operationId: resource.id });
  } else if (typeof outcome === 'object') ended(outcome);
  if (!row) throw new HttpError('not_found');
  return operationAnswer(db, 200, row);
}

async function challenge({
  db,
  system,
  load,
  audit,
  resource,
  body,
}: Call<OperationRow, ChallengeInput, undefined>): Promise<Answer> {
  const hint = {
    type: 'code' as const,
    connectionId: resource.connection_id,
    operationId: resource.id,
    challengeId: body.challenge_id,
    code: body.code,
  };
  const outcome = await giveCode(db, system, hint, (tx) => audit.record(tx, [['operation', resource.id]]));
  switch (outcome) {
    case 'taken':
      return json(202, { status: 'accepted' } satisfies CodeAcceptedJson);
    case 'refused':
      throw new HttpError((await load.operation(resource.id)) ? 'challenge_not_accepting_code' : 'not_found');
    case 'unheard':
      throw new HttpError('unavailable', 'the code did not reach the operation, it may be given again');
    default:
      return outcome satisfies never;
  }
}

/**
 * Has the place looked at where the write would show (OPS-22), and waits for that a while. The request stands in a row, so that the owner
 * sees it in any case; while it does, asking again begins no second look. The status stays.
 */
async function reconcile(call: Call<OperationRow, undefined, undefined>): Promise<Answer> {
  const { db, system, audit, resource } = call;
  if (resource.status !== 'outcome_unknown') throw new HttpError('not_outcome_unknown');
  const outcome = await db.transaction(async (tx) => {
    const requested = await requestLook(tx, resource.id);
    if (requested === 'requested') await audit.record(tx, [['operation', resource.id]]);
    return requested;
  });
  switch (outcome) {
    case 'busy':
      throw new HttpError('connection_busy');
    case 'gone':
      throw new HttpError('not_found');
    case 'erased':
      throw new HttpError('erased', 'the input of the operation says what to look for, and was erased');
    case 'not_ready':
      return answerAsItIs(call, resource.id);
    case 'requested':
    case 'repeated':
      break;
  }
  system.hint({ type: 'look', connectionId: resource.connection_id });
  await awaitWakeUps(call, resource, LIMITS.look_wait_ms, async () => !(await isLookRequested(db, resource.id)));
  return answerAsItIs(call, resource.id);
}

export const operationActionRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'answerChallenge',
    audit: 'challenge.answer',
    path: '/v1/operations/{operation_id}/challenge',
    summary: 'Answer the challenge of an operation',
    description:
      'Gives an operation in `waiting_user` the code that its user got. Whether the code was right shows in the operation: a wrong one ends in a new challenge, the third in `challenge_failed`.',
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
    operationId: 'cancelOperation',
    audit: 'operation.cancel',
    path: '/v1/operations/{operation_id}/cancel',
    summary: 'Cancel an operation',
    description:
      'Requests the end of an operation. A queued one is `canceled` at once; a running or waiting one ends soon, unless a write has left already: nothing is undone at the provider. One that has ended stays as it is.',
    scopes: ['operations:write'],
    body: { kind: 'none' },
    resource: operationResource,
    answers: { 200: { description: 'The operation as it is now.', schema: operationSchema } },
    handle: cancel,
  }),
  route({
    method: 'POST',
    operationId: 'reconcileOperation',
    audit: 'operation.reconcile',
    path: '/v1/operations/{operation_id}/reconcile',
    summary: 'Check the provider for a write of unknown outcome',
    description:
      'Looks, without writing, at the place where a write of unknown outcome would show, and waits a few seconds for the look. The status stays, and nothing is ever sent again. Nothing is checked while the connection is not ready.',
    scopes: ['operations:write'],
    body: { kind: 'none' },
    resource: operationResource,
    answers: {
      200: {
        description:
          'The operation; `evidence.look` is what stood where the write would show, once a look has ended. Asked again, this answers ' +
          'with the same look or begins the next.',
        schema: unknownOperationSchema,
      },
    },
    refusals: ['not_outcome_unknown', 'connection_busy', 'erased'],
    handle: reconcile,
  }),
];
