import { randomBytes } from 'node:crypto';
import typia from 'typia';
import type { Logger } from '../../../storage/log/log.js';
import { HttpError } from '../../../storage/model/errors.js';
import type { Database, Transaction } from '../../../storage/postgres/database.js';
import {
  type ConsoleSession,
  createSession,
  endSession,
  findSessions,
  touchSessions,
} from '../../../storage/workspaces/console-sessions.js';
import { hashKey, kindOfKey } from '../../../storage/workspaces/key-format.js';
import { findKeysByHash, touchKeys, type UsableKey } from '../../../storage/workspaces/keys.js';
import { findOperatorsByHash, touchOperators } from '../../../storage/workspaces/operators.js';
import { findWorkspaces } from '../../../storage/workspaces/workspaces.js';
import { invalidField } from '../answer.js';
import type { Uuid } from '../fields.js';
import { LIMITS } from '../limits.js';
import { rememberingLoader, rowLoader, turnLoader } from '../loader.js';
import { rateLimit } from '../rate-limit.js';
import type { RequestHeader } from '../wire/request-headers.js';
import { isInNetworks } from './client-address.js';
import type { ConsoleCookie } from './console-cookie.js';
import { KeyLookups } from './key-lookups.js';
import { KeyUses } from './key-uses.js';
import { keyFinder } from './keys.js';
import { RefusedSignIns } from './refused-sign-ins.js';

/** Of a request what says whose it is. */
export interface Sender {
  method: string;
  path: string;
  headers: Readonly<Record<RequestHeader, string>>;
  /** The client's address; asked for once at most, and only where it is needed. */
  address(): string;
}

/** Finds whose request it is (contract: "Authentication"; HTTP-23, HTTP-24). */
export interface Callers {
  /**
   * Of the key in `Authorization`, or without that header of the session in the cookie. Throws 401; 429 for one that is not known where
   * the client's address brings many wrong ones; 403 `cross_site`, `network_not_allowed`. What is revoked stops working within `LIMITS.key_cache_ms`.
   */
  callerOf(sender: Sender): Promise<UsableKey>;
  /** The same key; of an operator's it is in the workspace that `Console-Workspace` names. Throws 400 where that is needed and missing. */
  inWorkspace(key: UsableKey, sender: Sender): Promise<UsableKey>;
  /** The session in the cookie; undefined where there is none that can be used. */
  sessionOf(sender: Sender): Promise<ConsoleSession | undefined>;
  /**
   * Begins a session with a key, and ends the one in the cookie; throws 401, 429 and 403 as `callerOf`. `isRefusal` tells those that are to
   * be recorded: there are so many, and 429 past it.
   */
  signIn(key: string, sender: Sender, record: RecordSignIn): Promise<{ token: string; session: ConsoleSession }>;
  /** Ends the session in the cookie, if there is one, and has it recorded; throws 403 `cross_site`. */
  signOut(sender: Sender, record: RecordSignIn): Promise<void>;
  /** Writes what is still to be written of the last uses. */
  close(): Promise<void>;
}

/** Adds the entry of the audit log about the user of this key, in the transaction that begins or ends the session. */
type RecordSignIn = (tx: Transaction, key: UsableKey) => Promise<void>;

const BEARER = /^Bearer +(\S+)$/i;
/** 32 bytes in base64url; anything else is refused without a query. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const isUuid = typia.createIs<Uuid>();

export function callers(db: Database, log: Logger, cookie: ConsoleCookie): Callers {
  // One count of wrong ones, whatever they are said to be.
  const lookups = new KeyLookups();
  const found = {
    key: keyFinder(
      turnLoader((hashes) => findKeysByHash(db, hashes)),
      lookups,
    ),
    operator: keyFinder(
      turnLoader((hashes) => findOperatorsByHash(db, hashes)),
      lookups,
    ),
  };
  const sessions = keyFinder<ConsoleSession>(
    turnLoader((hashes) => findSessions(db, hashes)),
    lookups,
  );
  const uses = {
    key: new KeyUses((uses) => touchKeys(db, uses), log),
    operator: new KeyUses((uses) => touchOperators(db, uses), log),
  };
  const sessionUses = new KeyUses((uses) => touchSessions(db, uses), log);
  const workspace = rememberingLoader(
    rowLoader((ids) => findWorkspaces(db, ids)),
    LIMITS.key_cache_keys,
    LIMITS.key_cache_ms,
  );
  const signIns = rateLimit(LIMITS.sign_ins_per_s);
  const refusedSignIns = new RefusedSignIns();

  const used = (key: UsableKey, { address }: Sender) => {
    if (key.networks && !isInNetworks(address(), key.networks)) throw new HttpError('network_not_allowed');
    uses[key.kind].add(key.id, address);
    return key;
  };
  const keyOf = async (text: string, sender: Sender) => {
    const kind = kindOfKey(text);
    const key = kind && (await found[kind].find(hashKey(text).toString('hex'), sender.address));
    if (!key) throw new HttpError('unauthorized');
    return used(key, sender);
  };
  const sessionOf: Callers['sessionOf'] = async (sender) => {
    const token = cookie.read(sender.headers);
    if (token === undefined || !TOKEN.test(token)) return undefined;
    const session = await sessions.find(hashKey(token).toString('hex'), sender.address);
    if (!session) return undefined;
    used(session.key, sender); // what its key refuses is no use: it keeps no session alive
    sessionUses.add(session.hash, sender.address);
    return session;
  };
  /** The hash of the session that is ended; undefined where none goes on. */
  const end = async (tx: Transaction, headers: Sender['headers']) => {
    const token = cookie.read(headers);
    if (token === undefined || !TOKEN.test(token)) return undefined;
    const hash = hashKey(token).toString('hex');
    return (await endSession(tx, hash)) ? hash : undefined;
  };
  const forget = (hash: string | undefined) => hash !== undefined && sessions.forget(hash);

  return {
    sessionOf,
    async callerOf(sender) {
      const { headers, method } = sender;
      if (headers.authorization !== '') return keyOf(BEARER.exec(headers.authorization)?.[1] ?? '', sender);
      if (cookie.read(headers) === undefined) throw new HttpError('unauthorized');
      // A page of another site cannot send this header: its browser would ask first, and be refused.
      if (headers['console-request'] !== '1') throw new HttpError('cross_site');
      cookie.refuseCrossSite(method, headers);
      const session = await sessionOf(sender);
      if (!session) throw new HttpError('unauthorized');
      return session.key;
    },
    async inWorkspace(key, { path, headers }) {
      if (key.kind === 'key' || path === OPERATOR_PATH || path.startsWith(`${OPERATOR_PATH}/`)) return key;
      const id = headers['console-workspace'].toLowerCase();
      const named = isUuid(id) ? await workspace(id) : undefined;
      if (!named)
        throw invalidField('headers.Console-Workspace', WORKSPACE_WANTED, headers['console-workspace'] || undefined);
      return { ...key, workspace_id: named.id, limits: named.limits };
    },
    async signIn(text, sender, record) {
      cookie.refuseCrossSite(sender.method, sender.headers);
      const key = await keyOf(text, sender).catch((error) => {
        if (isRefusal(error)) refusedSignIns.take(sender.address());
        throw error;
      });
      signIns(key.id);
      const token = randomBytes(32).toString('base64url');
      const from = { address: sender.address(), userAgent: sender.headers['user-agent'] };
      const { session, ended } = await db.transaction(async (tx) => {
        const session = await createSession(tx, { tokenHash: hashKey(token), key, ...from });
        await record(tx, key);
        return { session, ended: await end(tx, sender.headers) };
      });
      forget(ended);
      return { token, session };
    },
    async signOut(sender, record) {
      const { method, headers } = sender;
      cookie.refuseCrossSite(method, headers);
      // One that its key refuses ends as well; a token that is none costs a stranger's look, and no transaction.
      const session = await sessionOf(sender).catch((error) => {
        if (!isRefusal(error)) throw error;
        return 'refused' as const;
      });
      if (!session) return;
      const ended = await db.transaction(async (tx) => {
        const hash = await end(tx, headers);
        if (hash !== undefined && session !== 'refused') await record(tx, session.key);
        return hash;
      });
      forget(ended);
    },
    async close() {
      await Promise.all([uses.key.flush(), uses.operator.flush(), sessionUses.flush()]);
    },
  };
}

/** The sign-in was refused for its key. */
export const isRefusal = (error: unknown): error is HttpError =>
  error instanceof HttpError && (error.code === 'unauthorized' || error.code === 'network_not_allowed');

/** Where operators work across workspaces. */
const OPERATOR_PATH = '/v1/operator';
const WORKSPACE_WANTED = 'the id of a workspace: an operator works in the one that is named';
