import typia, { type tags } from 'typia';
import { changeNames } from '../../../storage/connections/connection-changes.js';
import { type ConnectionView, findConnections } from '../../../storage/connections/connections.js';
import { HttpError } from '../../../storage/model/errors.js';
import { type Answer, invalidField, json } from '../../http/answer.js';
import type { Printable } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { connectionResource } from '../resources.js';
import { connectionJson, connectionSchema } from './connection-json.js';

/** A client's own id of a connection: printable characters, not unique. */
export type Reference = Printable<1, 255>;

/** Up to ten different words of a client for a connection. */
export type Labels = Printable<1, 64>[] & tags.MaxItems<10> & tags.UniqueItems;

/** What a client calls a connection that it makes (CONN-19). */
export interface NewNamesInput {
  /** Your own id of the connection, 1 to 255 printable characters; several connections may have the same. */
  reference?: Reference;
  /** Up to ten short words of your own, such as a team or a plan. */
  labels?: Labels;
}

/** New names of a connection; what is left out stays, and at least one is given. */
export interface NamesInput {
  /** Your own id of the connection; null takes it away. */
  reference?: Reference | null;
  /** Your own words for it, in place of those it has; an empty list takes them away. */
  labels?: Labels;
}

async function rename(call: Call<ConnectionView, NamesInput, undefined>): Promise<Answer> {
  const { db, audit, resource, body } = call;
  const { reference, labels } = body;
  if (reference === undefined && labels === undefined) throw invalidField('body', 'reference or labels');
  const row = await db.transaction(async (tx) => {
    if (!(await changeNames(tx, resource.id, body))) throw new HttpError('not_found');
    await audit.record(tx, [['connection', resource.id]], {
      details: { ...(reference !== undefined && { reference: reference ?? false }), labels: labels !== undefined },
    });
    const [changed] = await findConnections(tx, [resource.id]);
    if (!changed) throw new HttpError('not_found');
    return changed;
  });
  return json(200, connectionJson(row));
}

export const clientNameRoutes: Route[] = [
  route({
    method: 'PUT',
    operationId: 'renameConnection',
    audit: 'connection.rename',
    path: '/v1/connections/{connection_id}/reference',
    summary: 'Change your own id and labels of a connection',
    description:
      'Stores what you call the connection: your own id, which lists filter by and callbacks carry, and labels. It changes nothing of how the connection works, and may be done while operations run.',
    scopes: ['connections:write'],
    changes: 'connections',
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<NamesInput>(),
      schema: typia.json.schemas<[NamesInput]>(),
    },
    resource: connectionResource,
    answers: { 200: { description: 'The connection as it is now.', schema: connectionSchema } },
    handle: rename,
  }),
];
