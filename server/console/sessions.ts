import typia from 'typia';
import { recordAudit } from '../../storage/audit/record.js';
import { LIMITS as STORAGE_LIMITS } from '../../storage/limits.js';
import { HttpError } from '../../storage/model/errors.js';
import type { Right } from '../../storage/model/records.js';
import type { Transaction } from '../../storage/postgres/database.js';
import type { ConsoleSession } from '../../storage/workspaces/console-sessions.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import { findWorkspaces } from '../../storage/workspaces/workspaces.js';
import { type Answer, json, noContent } from '../http/answer.js';
import type { Count, Printable, Timestamp, Uuid } from '../http/fields.js';
import { isRefusal } from '../http/identity/callers.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';

/** A sign-in to the console. */
export interface SignInInput {
  /** A key of a workspace, or of an operator; it is not kept, and never returned. */
  key: Printable<1, 128>;
}

/** Who is signed in to the console (HTTP-24). */
export interface SessionJson {
  /** With whose key: `key`, a workspace's; `operator`, that of an operator. */
  kind: 'key' | 'operator';
  /** Id of the key, or of the operator. */
  id: Uuid;
  /** What people call it; null when it has no name. */
  name: string | null;
  /** The workspace that the key opens; null for an operator, who names one with each request. */
  workspace: SessionWorkspaceJson | null;
  /** What may be done. */
  scopes: Right[];
  /** When the session began. */
  created_at: Timestamp;
  /** When it ends at the latest; without use it ends after two hours. */
  expires_at: Timestamp;
  /** When the key expires; null when it does not expire. */
  key_expires_at: Timestamp | null;
  /** How many days before its end a key is told of; 0: never. */
  key_warning_days: Count;
}

/** A workspace by its name. */
export interface SessionWorkspaceJson {
  /** Id of the workspace. */
  id: Uuid;
  /** What people call it. */
  name: string;
}

type SessionCall<B = undefined> = Call<undefined, B, undefined>;

async function sessionJson(
  { db, keyExpiryWarningDays }: SessionCall<unknown>,
  session: ConsoleSession,
): Promise<SessionJson> {
  const { kind, id, name, workspace_id, scopes, expires_at } = session.key;
  const [workspace] = kind === 'key' ? await findWorkspaces(db, [workspace_id]) : [];
  return {
    ...{ kind, id, name, scopes: [...scopes] },
    workspace: workspace ? { id: workspace.id, name: workspace.name } : null,
    created_at: session.created_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    key_expires_at: expires_at?.toISOString() ?? null,
    key_warning_days: keyExpiryWarningDays,
  };
}

/** Of a sign-in or sign-out with this key. */
function recordSession({ audit }: SessionCall<unknown>, tx: Transaction, key: UsableKey): Promise<void> {
  const actor = { kind: `${key.kind}_session` as const, id: key.id, name: key.name };
  return audit.record(tx, [], { actor, ...(key.kind === 'key' && { workspaceId: key.workspace_id }) });
}

/** Refused keys are recorded: `callers` lets through so many, and answers 429 past it. */
async function refused({ db, sender, context }: SessionCall<unknown>, error: unknown): Promise<never> {
  if (isRefusal(error)) {
    const { code } = error;
    const actor = { kind: 'unknown' as const, id: null, name: null, address: sender.address() };
    const entry = { actor, targets: [], workspaceId: null, requestId: context.requestId, details: { code } };
    await db.transaction((tx) => recordAudit(tx, { ...entry, action: 'console.sign_in_refused' }));
  }
  throw error;
}

const UNSTORED = { 'Cache-Control': 'no-store' };

async function signIn(call: SessionCall<SignInInput>): Promise<Answer> {
  const { callers, sender, consoleCookie, body } = call;
  const begun = callers.signIn(body.key, sender, (tx, key) => recordSession(call, tx, key));
  const { token, session } = await begun.catch((error) => refused(call, error));
  call.context.key = session.key;
  return json(200, await sessionJson(call, session), { ...UNSTORED, 'Set-Cookie': consoleCookie.given(token) });
}

async function getSession(call: SessionCall): Promise<Answer> {
  const session = await call.callers.sessionOf(call.sender);
  if (!session) throw new HttpError('unauthorized');
  return call.asWorkspace(session.key, async (share) =>
    json(200, await sessionJson({ ...call, ...share }, session), UNSTORED),
  );
}

async function signOut(call: SessionCall): Promise<Answer> {
  const { callers, sender, consoleCookie } = call;
  await callers.signOut(sender, (tx, key) => recordSession(call, tx, key));
  return { ...noContent, headers: { ...UNSTORED, 'Set-Cookie': consoleCookie.cleared } };
}

const PATH = '/console/session';
const SESSION = typia.json.schemas<[SessionJson]>();
const HOURS = STORAGE_LIMITS.session_ms / 3_600_000;

export const sessionRoutes: Route[] = [
  route({
    method: 'POST',
    operationId: 'signIn',
    audit: 'console.sign_in',
    path: PATH,
    summary: 'Sign in to the console',
    description: `Begins a session of the console with a key of a workspace or of an operator. The cookie takes the place of the key in requests that carry \`Console-Request: 1\`, for ${HOURS} hours at most, and for no longer than the key works.`,
    scopes: 'none',
    body: {
      kind: 'json',
      limit_bytes: LIMITS.small_body_bytes,
      validate: typia.createValidateEquals<SignInInput>(),
      schema: typia.json.schemas<[SignInInput]>(),
    },
    answers: { 200: { description: 'Who is signed in.', schema: SESSION, headers: ['Set-Cookie'] } },
    refusals: ['unauthorized', 'cross_site', 'rate_limited'],
    handle: signIn,
  }),
  route({
    method: 'GET',
    operationId: 'getSession',
    path: PATH,
    summary: 'Get the session of the console',
    description: 'Answers the session in the cookie.',
    scopes: 'none',
    session: true,
    body: { kind: 'none' },
    answers: { 200: { description: 'Who is signed in.', schema: SESSION } },
    refusals: ['unauthorized', 'rate_limited'],
    handle: getSession,
  }),
  route({
    method: 'DELETE',
    operationId: 'signOut',
    audit: 'console.sign_out',
    path: PATH,
    summary: 'Sign out of the console',
    description: 'Ends the session in the cookie, at every node within a second. Without one there is nothing to end.',
    scopes: 'none',
    session: true,
    body: { kind: 'none' },
    answers: { 204: { description: 'Nobody is signed in.', headers: ['Set-Cookie'] } },
    refusals: ['cross_site', 'rate_limited'],
    handle: signOut,
  }),
];
