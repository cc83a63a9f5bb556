import typia, { type tags } from 'typia';
import { PROVIDERS } from '../../../actors/provider-traits.js';
import {
  findReconnectLink,
  loginKey,
  mayUse,
  noteReconnectLogin,
  type ReconnectLink,
  useReconnectLink,
} from '../../../storage/connections/reconnect-links.js';
import type { OperationErrorCode } from '../../../storage/model/error-codes.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { OperationStatus } from '../../../storage/model/records.js';
import { passwordContext } from '../../../storage/secrets/sealing.js';
import { findWorkspaces } from '../../../storage/workspaces/workspaces.js';
import { type Answer, invalidField, json } from '../../http/answer.js';
import type { Count, Printable, Timestamp } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { giveCode } from '../operations/challenge-code.js';
import type { CodeAcceptedJson } from '../operations/operation-actions.js';
import type { ChallengeJson } from '../operations/operation-parts.js';
import { submit } from '../operations/submission.js';
import { changeIdle } from './connection-changes.js';
import type { PasswordInput } from './connections.js';

/**
 * What the page at `/reconnect` asks for (CONN-15). Its requests carry the link's text in their body, never in an address, and need no key.
 */

/** 32 bytes or more in base64url. */
type Token = string & tags.Pattern<'^[A-Za-z0-9_-]{43,128}$'>;

/** Which link is opened. */
export interface OpenLinkInput {
  /** What stands behind the `#` of its address. */
  token: Token;
}

/** Whose request it is: that of the page which uses the link. */
export interface PageInput extends OpenLinkInput {
  /** 32 random bytes in base64url that the page has made up: the first one that signs in with the link goes on with it alone. */
  page: Token;
}

/** The account is to be signed in. */
export interface LinkLoginInput extends PageInput {
  /** The account's password, where it has one; it is stored encrypted once the login has succeeded, and never returned. */
  password?: PasswordInput;
}

/** The code that the provider asks the owner for. */
export interface LinkCodeInput extends PageInput {
  /** `challenge.id` of the progress. */
  challenge_id: string & tags.MinLength<1> & tags.MaxLength<255>;
  /** The code, 1 to 32 printable characters; it is neither stored nor logged. */
  code: Printable<1, 32>;
}

/** What the owner of an account is asked for. */
export interface OpenedLinkJson {
  /** Who asks: the name of the workspace. */
  workspace: string;
  /** The account, in part: enough for its owner to tell it. */
  account: string;
  /** Whether it signs in with a password. */
  needs_password: boolean;
  /** Whether a page uses the link already: then it is of no use to any other. */
  used: boolean;
  /** Until then the link works. */
  expires_at: Timestamp;
}

/** How far the login is. */
export interface LinkProgressJson {
  /**
   * How the login stands: `queued` and `running`, it goes on; `waiting_user`, its owner is asked; `succeeded`, the account is signed in;
   * `failed`, `canceled`, `skipped` and `outcome_unknown`, it is not. Null before the first, and when it could not be submitted.
   */
  status: OperationStatus | null;
  /** What the provider asks the owner for, while it does. */
  challenge: ChallengeJson | null;
  /** Why the login failed. */
  error_code: OperationErrorCode | null;
  /** How often the password may be given still. */
  tries_left: Count;
}

type Owner<B> = Call<undefined, B, undefined>;

/**
 * Answers a request about a link, as one of the workspace that issued it. Throws 404 for a link that is not valid any more, and 429 past a rate of the
 * workspace.
 */
const withLink =
  <B extends OpenLinkInput>(work: (call: Owner<B>, link: ReconnectLink) => Promise<Answer>) =>
  async (call: Owner<B>): Promise<Answer> => {
    const link = await findReconnectLink(call.db, call.body.token);
    if (!link) throw new HttpError('not_found', 'the link has expired, or another one took its place');
    const [workspace] = await findWorkspaces(call.db, [link.workspace_id]);
    const { id, workspace_id } = link;
    const counted = { id, workspace_id, limits: workspace?.limits ?? null };
    return call.asWorkspace(counted, (share) => work({ ...call, ...share }, link));
  };

/** The same for the page that uses it; throws 409 for any other. */
const withOwnLink = <B extends PageInput>(work: (call: Owner<B>, link: ReconnectLink) => Promise<Answer>) =>
  withLink<B>(async (call, link) => {
    if (!mayUse(link, call.body.page)) throw new HttpError('link_used');
    return work(call, link);
  });

/** Who has the link: the owner of its account, of whom nothing else is known. */
const byLink = ({ id, workspace_id }: ReconnectLink) => ({
  actor: { kind: 'link' as const, id, name: null },
  workspaceId: workspace_id,
});

/** Behind `/v1` every answer says so by itself. */
const unstored = (status: number, value: unknown) => json(status, value, { 'Cache-Control': 'no-store' });

async function open(_call: Owner<OpenLinkInput>, link: ReconnectLink): Promise<Answer> {
  const { workspace_name, provider, username, actor_id, page_hash, expires_at } = link;
  return unstored(200, {
    workspace: workspace_name,
    account: shownInPart(username ?? actor_id ?? ''),
    needs_password: PROVIDERS[provider].signsIn,
    used: page_hash !== null,
    expires_at: expires_at.toISOString(),
  } satisfies OpenedLinkJson);
}

/** `ada@example.com` as `a•••@example.com`: who finds the link learns no name. */
function shownInPart(account: string): string {
  const [, first = '', domain = ''] = /^(.)[^@]*(@.*)?$/su.exec(account) ?? [];
  return `${first}•••${domain}`;
}

/**
 * Keeps the password for the login, which it submits: the connection's own and its session stay until that has succeeded. Killed between the two, the page finds no login and signs in again; killed before the login is
 * noted, it is found by its key.
 */
async function login(call: Owner<LinkLoginInput>, link: ReconnectLink): Promise<Answer> {
  const { db, ring, body, context } = call;
  const { id, connection_id, workspace_id } = link;
  const { signsIn } = PROVIDERS[link.provider];
  if (signsIn !== (body.password !== undefined))
    throw invalidField('body.password', signsIn ? 'a password' : 'nothing');
  const passwordSealed = body.password === undefined ? null : ring.seal(body.password, passwordContext(connection_id));
  const tries = await changeIdle(call, connection_id, async (tx) => {
    const counted = await useReconnectLink(tx, id, { page: body.page, passwordSealed }, LIMITS.reconnect_tries);
    if (counted === undefined) throw new HttpError('link_used');
    await call.audit.record(tx, [['connection', connection_id]], byLink(link));
    return counted;
  });
  const { operation } = await submit(call, {
    workspaceId: workspace_id,
    connectionId: connection_id,
    capability: 'social.login',
    input: { reconnect: true },
    input_bytes: 0,
    idempotencyKey: loginKey({ id, tries }),
    sender: null, // the use of the link tells it
  });
  await noteReconnectLogin(db, id, tries, operation.id);
  context.operationId = operation.id;
  return unstored(202, progressJson({ ...link, tries }, operation));
}

async function progress(call: Owner<PageInput>, link: ReconnectLink): Promise<Answer> {
  const operation = link.operation_id === null ? undefined : await call.load.operation(link.operation_id);
  return unstored(200, progressJson(link, operation));
}

function progressJson(
  { tries }: Pick<ReconnectLink, 'tries'>,
  operation: Awaited<ReturnType<Owner<unknown>['load']['operation']>>,
): LinkProgressJson {
  const challenge = operation?.status === 'waiting_user' ? operation.challenge : null;
  return {
    status: operation?.status ?? null,
    challenge: challenge && {
      id: challenge.id,
      kind: challenge.kind,
      expires_at: challenge.expires_at,
      accepts_code: challenge.accepts_code && !challenge.answered,
    },
    error_code: (operation?.error_code ?? null) as OperationErrorCode | null,
    tries_left: Math.max(0, LIMITS.reconnect_tries - tries),
  };
}

async function code(call: Owner<LinkCodeInput>, link: ReconnectLink): Promise<Answer> {
  const { db, system, body } = call;
  const { operation_id, connection_id } = link;
  if (operation_id === null) throw new HttpError('challenge_not_accepting_code');
  const { challenge_id: challengeId, code } = body;
  const hint = { type: 'code' as const, connectionId: connection_id, operationId: operation_id, challengeId, code };
  const outcome = await giveCode(db, system, hint, (tx) =>
    call.audit.record(tx, [['operation', operation_id]], byLink(link)),
  );
  if (outcome === 'refused') throw new HttpError('challenge_not_accepting_code');
  if (outcome === 'unheard') throw new HttpError('unavailable', 'the code did not arrive, it may be given again');
  return unstored(202, { status: 'accepted' } satisfies CodeAcceptedJson);
}

const OWNERS = { method: 'POST', scopes: 'none' } as const;
const BODY = { kind: 'json', limit_bytes: LIMITS.small_body_bytes } as const;

export const reconnectRoutes: Route[] = [
  route({
    ...OWNERS,
    operationId: 'openReconnectLink',
    audit: 'none',
    path: '/reconnect/open',
    summary: 'Open a reconnect link',
    description:
      'Tells the page at `/reconnect` which account a link is for. It does not use the link: programs that open links in mails do no harm.',
    body: {
      ...BODY,
      validate: typia.createValidateEquals<OpenLinkInput>(),
      schema: typia.json.schemas<[OpenLinkInput]>(),
    },
    answers: { 200: { description: 'What the link asks for.', schema: typia.json.schemas<[OpenedLinkJson]>() } },
    refusals: ['not_found', 'rate_limited', 'encryption_key_unavailable'],
    handle: withLink(open),
  }),
  route({
    ...OWNERS,
    operationId: 'signInByLink',
    audit: 'reconnect_link.use',
    path: '/reconnect/login',
    summary: 'Sign in by a reconnect link',
    description:
      'Submits a login with the password, which becomes the connection’s own once the login succeeds; a wrong one changes nothing and may be given again a few times. The page that signs in first has the link for itself.',
    body: {
      ...BODY,
      validate: typia.createValidateEquals<LinkLoginInput>(),
      schema: typia.json.schemas<[LinkLoginInput]>(),
    },
    answers: { 202: { description: 'The login is submitted.', schema: typia.json.schemas<[LinkProgressJson]>() } },
    refusals: ['not_found', 'link_used', 'connection_busy', 'rate_limited', 'encryption_key_unavailable'],
    handle: withOwnLink(login),
  }),
  route({
    ...OWNERS,
    operationId: 'readLinkProgress',
    audit: 'none',
    path: '/reconnect/progress',
    summary: 'Get the progress of a sign-in by link',
    description: 'Tells the page that uses a link how its login stands, and what the provider asks for.',
    body: { ...BODY, validate: typia.createValidateEquals<PageInput>(), schema: typia.json.schemas<[PageInput]>() },
    answers: { 200: { description: 'How the login stands.', schema: typia.json.schemas<[LinkProgressJson]>() } },
    refusals: ['not_found', 'link_used', 'rate_limited', 'encryption_key_unavailable'],
    handle: withOwnLink(progress),
  }),
  route({
    ...OWNERS,
    operationId: 'answerChallengeByLink',
    audit: 'challenge.answer',
    path: '/reconnect/code',
    summary: 'Give the code of a sign-in by link',
    description: 'Gives the login of a link the code that the owner of the account got.',
    body: {
      ...BODY,
      validate: typia.createValidateEquals<LinkCodeInput>(),
      schema: typia.json.schemas<[LinkCodeInput]>(),
    },
    answers: { 202: { description: 'The login has the code.', schema: typia.json.schemas<[CodeAcceptedJson]>() } },
    refusals: ['not_found', 'link_used', 'challenge_not_accepting_code', 'rate_limited', 'encryption_key_unavailable'],
    handle: withOwnLink(code),
  }),
];
