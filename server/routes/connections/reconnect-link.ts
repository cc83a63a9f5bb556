import typia from 'typia';
import type { ConnectionView } from '../../../storage/connections/connections.js';
import { issueReconnectLink } from '../../../storage/connections/reconnect-links.js';
import { HttpError } from '../../../storage/model/errors.js';
import { type Answer, json } from '../../http/answer.js';
import type { Timestamp } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { connectionResource } from '../resources.js';

/** A link for the owner of an account; it is shown only here (CONN-15). */
export interface ReconnectLinkJson {
  /** The address to give to the account's owner. Its proof stands behind the `#`, which browsers send to nobody. */
  url: string;
  /** Until then it works, unless a newer one takes its place. */
  expires_at: Timestamp;
}

async function issue({ db, audit, resource, publicUrl }: Call<ConnectionView, undefined, undefined>): Promise<Answer> {
  if (!publicUrl) throw new HttpError('links_unavailable');
  const link = await db.transaction(async (tx) => {
    const issued = await issueReconnectLink(tx, resource.id, LIMITS.reconnect_link_s);
    if (issued) await audit.record(tx, [['connection', resource.id]]);
    return issued;
  });
  if (!link) throw new HttpError('not_found');
  const url = `${publicUrl}/reconnect#${link.token}`;
  return json(201, { url, expires_at: link.expiresAt.toISOString() } satisfies ReconnectLinkJson);
}

export const reconnectLinkRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'createReconnectLink',
    audit: 'reconnect_link.create',
    path: '/v1/connections/{connection_id}/reconnect-link',
    summary: 'Create a reconnect link',
    description:
      'Makes an address at which the owner of the account enters its password, and the code that the provider asks for, so that nobody else sees them. It works once, for 15 minutes, and takes the place of the one before. The service has to be told its own public address for it.',
    scopes: ['connections:write', 'operations:write'],
    body: { kind: 'none' },
    resource: connectionResource,
    answers: { 201: { description: 'The link.', schema: typia.json.schemas<[ReconnectLinkJson]>() } },
    refusals: ['links_unavailable', 'encryption_key_unavailable'],
    handle: issue,
  }),
];
