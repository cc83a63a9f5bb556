import { createHash, randomBytes } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Test } from 'tap';
import { Agent, request } from 'undici';
import { v7 as uuidv7 } from 'uuid';
import type {
  ActorSystem,
  AwaitedOperation,
  Hint,
  Submission,
  SubmitOutcome,
  SystemStatus,
} from '../../actors/system.js';
import { type Edge, type EdgeOptions, startEdge } from '../../server/edge.js';
import type { SubscriptionRules } from '../../server/http/subscription-rules.js';
import { createLogger } from '../../storage/log/log.js';
import { partitionOf, SCOPES, type Scope } from '../../storage/model/records.js';
import { type NewOperation, storedRow, submitOperations } from '../../storage/operations/submission.js';
import type { Database } from '../../storage/postgres/database.js';
import { destinationHasher, keyRing } from '../../storage/secrets/encryption.js';
import { hashKey, newKeyText, prefixOf } from '../../storage/workspaces/key-format.js';
import { freshDatabase } from '../fixture/database.js';
import { insertWorkspace } from '../fixture/rows.js';

/**
 * The real edge over a real database. In place of the actors stands the smallest system there is: it stores
 * submissions with the real statement and runs nothing, so that operations stay as a test puts them; hints are kept.
 */
export interface EdgeUnderTest {
  edge: Edge;
  url: string;
  db: Database;
  system: StillSystem;
  workspaceId: string;
  /** Holds every scope of `workspaceId`. */
  key: string;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
}

export interface CallOptions {
  /** Sent as JSON, unless it is a string or bytes already. */
  body?: unknown;
  /** '' sends none. */
  key?: string;
  headers?: Record<string, string>;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: Fields;
}

/** A JSON object of an answer; the fields that tests look into. */
export interface Fields {
  [field: string]: unknown;
  id: string;
  code: string;
  status: string;
  health: string;
  state_revision: number;
  next_offset: number | null;
  next_cursor: string | null;
  error: Fields;
  details: Fields;
  data: Fields;
  recruiter: Fields;
  connections: Fields[];
  operations: Fields[];
  subscriptions: Fields[];
  events: Fields[];
  deliveries: Fields[];
  timeline: Fields[];
  errors: { path: string; expected: string; value?: unknown }[];
}

export class StillSystem implements ActorSystem {
  readonly log = createLogger({ level: 'silent', format: 'json' }, {});
  readonly hints: Hint[] = [];
  /** What the owner does with a hint. */
  owner: (hint: Hint) => void = () => {};
  state: SystemStatus['state'] = 'running';
  lacks: SystemStatus['lacks'] = [];
  /** Instead of storing, when set. */
  refusal: SubmitOutcome | undefined;
  /** Its threads have as many submissions as they may. */
  full = false;
  readonly #waiting = new Map<string, () => void>();
  #asked: (() => void) | undefined;

  constructor(private readonly db: Database) {}

  async submit(submission: Submission): Promise<SubmitOutcome> {
    if (this.refusal) return this.refusal;
    const id = uuidv7();
    const input = canonicalize(submission.input) ?? '{}';
    const operation: NewOperation = {
      id,
      workspaceId: submission.workspaceId,
      connectionId: submission.connectionId,
      partition: partitionOf(submission.connectionId),
      capability: submission.capability,
      idempotencyKey: submission.idempotencyKey,
      keyHash: createHash('sha256').update(submission.idempotencyKey).digest(),
      fingerprint: createHash('sha256').update(`${submission.connectionId} ${submission.capability} ${input}`).digest(),
      input,
      inputSealed: null,
      acceptedAt: new Date(),
      origin: submission.origin,
    };
    const [stored] = await submitOperations(this.db, [operation], []);
    if (stored?.kind === 'created') return { kind: 'created', operation: storedRow(operation, stored.place) };
    if (stored?.kind === 'replayed') return stored;
    if (stored?.kind === 'locked') return { kind: 'overloaded', what: 'connection' };
    return { kind: stored?.kind ?? 'not_found' };
  }

  crowded(): boolean {
    return this.full;
  }

  hint(hint: Hint): void {
    this.hints.push(hint);
    this.owner(hint);
  }

  readonly wakeUps = 0;

  awaitable({ id }: AwaitedOperation, _after: number, timeout_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeout_ms).unref();
      this.#waiting.set(id, () => {
        clearTimeout(timer);
        resolve();
      });
      this.#asked?.();
    });
  }

  /** Resolves when a request begins to wait for an operation, from now on. */
  asked(): Promise<void> {
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  settle(operationId: string): void {
    this.#waiting.get(operationId)?.();
    this.#waiting.delete(operationId);
  }

  status(): SystemStatus {
    return { state: this.state, partitions: 64, actorThreads: 1, browserThreads: 1, lacks: this.lacks };
  }
}

/** A key of the workspace, usable now. */
export async function insertKey(db: Database, workspaceId: string, scopes: readonly Scope[] = SCOPES): Promise<string> {
  const key = newKeyText('key');
  await db.query(
    'testKey',
    `insert into api_key (id, workspace_id, key_hash, scopes, prefix) values ($1, $2, $3, $4, $5)`,
    [uuidv7(), workspaceId, hashKey(key), scopes, prefixOf(key)],
  );
  return key;
}

/** The default bounds, under a secret of its own. */
export const subscriptionRules = (): SubscriptionRules => ({
  bounds: { ofConnection: 1_000, ofWorkspace: 100_000, ofDestination: 100 },
  destination: destinationHasher(randomBytes(32)),
});

/** `given`: a fresh database that the test has opened in its own way. */
export async function startTestEdge(
  t: Test,
  options: Partial<EdgeOptions> = {},
  given?: Database,
): Promise<EdgeUnderTest> {
  const db = given ?? (await freshDatabase(t)).db;
  const system = new StillSystem(db);
  const workspaceId = await insertWorkspace(db);
  const key = await insertKey(db, workspaceId);
  const edge = await startEdge({
    host: '127.0.0.1',
    port: 0,
    db,
    ring: keyRing([{ id: 'k1', key: randomBytes(32) }]),
    system,
    log: system.log,
    callbackPolicy: { allowedNetworks: ['127.0.0.0/8'] },
    subscriptions: subscriptionRules(),
    ...options,
  });
  const dispatcher = new Agent();
  // Later teardowns run first: the edge goes before its database.
  t.teardown(async () => {
    await dispatcher.close();
    await edge.close();
  });
  const url = `http://127.0.0.1:${edge.port}`;
  const call: EdgeUnderTest['call'] = async (method, path, { body, key: given = key, headers = {} } = {}) => {
    const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const response = await request(url + path, {
      method: method as 'GET',
      dispatcher,
      headers: {
        ...(given !== '' && { authorization: `Bearer ${given}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? (body as string | Uint8Array) : JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      json: (text === '' ? null : JSON.parse(text)) as Fields,
    };
  };
  return { edge, url, db, system, workspaceId, key, call };
}
