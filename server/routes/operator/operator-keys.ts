import typia, { type tags } from 'typia';
import type { Distinct, Text } from '../../../browser-pool/contract/fields.js';
import { HttpError } from '../../../storage/model/errors.js';
import { OPERATOR, type Scope } from '../../../storage/model/records.js';
import {
  type ApiKeyRow,
  createKey,
  findKey,
  type NewApiKey,
  revokeKey,
  rotateKey,
} from '../../../storage/workspaces/keys.js';
import { type Answer, invalidField, json } from '../../http/answer.js';
import { type NonBlank, pathId, type Timestamp, type Uuid } from '../../http/fields.js';
import { isNetwork } from '../../http/identity/client-address.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Lookup, type Route, route } from '../../http/route.js';

/** A network of IPv4 or IPv6. */
type Network = string & tags.MinLength<1> & tags.MaxLength<50>;

/** A key to make. */
export interface NewKeyInput {
  /** The workspace that it opens. */
  workspace_id: Uuid;
  /** What people call it, up to 255 characters. */
  name?: Text<1, 255> & NonBlank;
  /** What may be done with it, each scope once. */
  scopes: Scope[] & tags.MinItems<1> & Distinct;
  /** Networks from which it may be used, such as `10.0.0.0/8`, 20 at most; without them it may be used from anywhere. */
  networks?: Network[] & tags.MinItems<1> & tags.MaxItems<20> & Distinct;
  /** When it expires, in the future; without it the key does not expire. */
  expires_at?: Timestamp;
}

/** How a key gives way to its successor. */
export interface RotateKeyInput {
  /** Seconds that the old key goes on to work, a year at most; a day when it is absent. With 0 it ends at once. */
  overlap_s?: number & tags.Type<'uint32'> & tags.Maximum<typeof LIMITS.key_overlap_s>;
}

/** A key that was just made. */
export interface NewKeyJson {
  /** Id of the key. */
  id: Uuid;
  /** The key: this answer alone shows it. */
  key: string;
  /** The workspace that it opens. */
  workspace_id: Uuid;
  /** What people call it; null when it has no name. */
  name: string | null;
  /** What may be done with it. */
  scopes: Scope[];
  /** Networks from which it may be used; null: from anywhere. */
  networks: string[] | null;
  /** When it expires; null when it does not expire. */
  expires_at: Timestamp | null;
}

/** The successor of a key, with its name, scopes and expiry. */
export interface RotatedKeyJson extends NewKeyJson {
  /** Id of the old key. */
  previous_key_id: Uuid;
  /** When the old key expires. */
  previous_valid_until: Timestamp;
}

/** A key that was revoked. */
export interface RevokedKeyJson {
  /** Id of the key. */
  id: Uuid;
  /** When it was revoked: the first time counts. */
  revoked_at: Timestamp;
}

const newKeyJson = ({ key, row }: NewApiKey): NewKeyJson => ({
  ...{ id: row.id, key, workspace_id: row.workspace_id, name: row.name, scopes: row.scopes, networks: row.networks },
  expires_at: row.expires_at?.toISOString() ?? null,
});

async function keyResource({ db, params }: Lookup): Promise<ApiKeyRow | undefined> {
  const id = pathId(params.key_id);
  return id === undefined ? undefined : findKey(db, id);
}

async function create({ db, audit, body }: Call<undefined, NewKeyInput, undefined>): Promise<Answer> {
  const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at);
  if (expiresAt && !(expiresAt.getTime() > Date.now()))
    throw invalidField('body.expires_at', 'a time in the future', body.expires_at);
  const { networks = null } = body;
  const wrong = networks?.findIndex((network) => !isNetwork(network)) ?? -1;
  if (wrong >= 0) throw invalidField(`body.networks[${wrong}]`, 'a network such as 10.0.0.0/8', networks?.[wrong]);
  const options = {
    ...{ workspaceId: body.workspace_id, name: body.name?.trim() ?? null, scopes: body.scopes },
    networks,
    expiresAt,
  };
  const created = await db.transaction(async (tx) => {
    const made = await createKey(tx, options);
    if (made) await audit.record(tx, [['key', made.row.id]], { workspaceId: made.row.workspace_id });
    return made;
  });
  if (!created) throw invalidField('body.workspace_id', 'the id of a workspace', body.workspace_id);
  return json(201, newKeyJson(created));
}

async function rotate({ db, audit, resource, body }: Call<ApiKeyRow, RotateKeyInput, undefined>): Promise<Answer> {
  const rotated = await db.transaction(async (tx) => {
    const made = await rotateKey(tx, resource.id, (body.overlap_s ?? LIMITS.usual_key_overlap_s) * 1000);
    const targets =
      made &&
      ([
        ['key', resource.id],
        ['key', made.row.id],
      ] as const);
    if (targets) await audit.record(tx, targets, { workspaceId: resource.workspace_id });
    return made;
  });
  if (!rotated) throw new HttpError('not_found', 'the key was revoked or has expired');
  return json(201, {
    ...newKeyJson(rotated),
    previous_key_id: resource.id,
    previous_valid_until: rotated.previousValidUntil.toISOString(),
  } satisfies RotatedKeyJson);
}

async function revoke({ db, audit, resource }: Call<ApiKeyRow, undefined, undefined>): Promise<Answer> {
  const revoked = await db.transaction(async (tx) => {
    const ended = await revokeKey(tx, resource.id);
    if (ended?.now) await audit.record(tx, [['key', resource.id]], { workspaceId: ended.workspace_id });
    return ended;
  });
  if (!revoked) throw new HttpError('not_found');
  return json(200, { id: resource.id, revoked_at: revoked.revoked_at.toISOString() } satisfies RevokedKeyJson);
}

export const operatorKeyRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'createKey',
    audit: 'key.create',
    path: '/v1/operator/keys',
    summary: 'Create an API key',
    description:
      'Makes a key, which only this answer shows. Where the answer is lost, the key stands in the list of the workspace as one that was never used: revoke it, and make another.',
    scopes: [OPERATOR],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<NewKeyInput>(),
      schema: typia.json.schemas<[NewKeyInput]>(),
    },
    answers: { 201: { description: 'The new key.', schema: typia.json.schemas<[NewKeyJson]>() } },
    handle: create,
  }),
  route({
    method: 'POST',
    operationId: 'rotateKey',
    audit: 'key.rotate',
    path: '/v1/operator/keys/{key_id}/rotate',
    summary: 'Rotate an API key',
    description:
      'Makes a key with the name, the scopes and the expiry of this one, which goes on to work for the overlap. A key that is revoked or expired is not found. One that ends before the overlap, as one that was rotated does, is not rotated: rotate its successor, or make a key.',
    scopes: [OPERATOR],
    body: {
      kind: 'json',
      limit_bytes: LIMITS.body_bytes,
      validate: typia.createValidateEquals<RotateKeyInput>(),
      schema: typia.json.schemas<[RotateKeyInput]>(),
    },
    resource: keyResource,
    refusals: ['key_ending'],
    answers: { 201: { description: 'The new key.', schema: typia.json.schemas<[RotatedKeyJson]>() } },
    handle: rotate,
  }),
  route({
    method: 'POST',
    operationId: 'revokeKey',
    audit: 'key.revoke',
    path: '/v1/operator/keys/{key_id}/revoke',
    summary: 'Revoke an API key',
    description:
      'Ends a key, and the sessions of the console that began with it, at every node within a second. Again it answers the same.',
    scopes: [OPERATOR],
    body: { kind: 'none' },
    resource: keyResource,
    answers: { 200: { description: 'The key is revoked.', schema: typia.json.schemas<[RevokedKeyJson]>() } },
    handle: revoke,
  }),
];
