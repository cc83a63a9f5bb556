import typia from 'typia';
import { type CapabilityName, capabilityNamed } from '../../../actors/capabilities/catalogue.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { OperationRow } from '../../../storage/model/records.js';
import { readOperationInput } from '../../../storage/operations/operations.js';
import { type Answer, json } from '../../http/answer.js';
import type { Uuid } from '../../http/fields.js';
import { type Call, type Route, route } from '../../http/route.js';
import { operationResource } from '../resources.js';

/** What an operation was submitted with (OPS-28). */
export interface SubmittedInputJson {
  /** The operation. */
  operation_id: Uuid;
  /** The capability that was submitted. */
  capability: CapabilityName;
  /** The input as it was submitted, without its hidden fields. */
  input: Record<string, unknown>;
  /** Names of the fields that were submitted and are not shown: message text, file bytes, and addresses that may carry a secret. */
  hidden: string[];
}

/** That it was read is committed before it is shown. */
async function getInput({ db, audit, resource }: Call<OperationRow, undefined, undefined>): Promise<Answer> {
  const stored = await readOperationInput(db, resource.id);
  if (stored === undefined) throw new HttpError('not_found');
  if (stored === null) throw new HttpError('erased');
  await audit.reveal([['operation', resource.id]]);
  const capability = capabilityNamed(resource.capability);
  // Of a capability that this version does not know, nobody can say what is secret.
  const isHidden = ([field]: [string, unknown]) => !capability || capability.secretInputs.has(field);
  const { hidden = [], shown = [] } = Object.groupBy(Object.entries(stored), (entry) =>
    isHidden(entry) ? 'hidden' : 'shown',
  );
  return json(200, {
    operation_id: resource.id,
    capability: resource.capability as CapabilityName,
    input: Object.fromEntries(shown),
    hidden: hidden.map(([field]) => field),
  } satisfies SubmittedInputJson);
}

export const operationInputRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'getOperationInput',
    audit: 'operation.reveal_input',
    path: '/v1/operations/{operation_id}/input',
    summary: 'Get the input of an operation',
    description:
      'Reads the input of an operation. Message text, file bytes, and addresses that may carry a secret are never shown: `hidden` names those that were submitted.',
    scopes: ['operations:read'],
    body: { kind: 'none' },
    resource: operationResource,
    answers: { 200: { description: 'The input.', schema: typia.json.schemas<[SubmittedInputJson]>() } },
    refusals: ['erased', 'encryption_key_unavailable'],
    handle: getInput,
  }),
];
