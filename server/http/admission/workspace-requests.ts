import { HttpError } from '../../../storage/model/errors.js';
import type { Database } from '../../../storage/postgres/database.js';
import type { UsableKey } from '../../../storage/workspaces/keys.js';
import type { MadeBody } from '../answer.js';
import { LIMITS } from '../limits.js';
import type { RequestLoad } from './request-load.js';
import type { RequestKind, RequestScheduler, Turn } from './request-scheduler.js';
import { WorkspaceDatabase } from './workspace-database.js';

/** Whose share of this node a request takes: its workspace's, where it is known. */
export interface Payer extends Pick<UsableKey, 'id' | 'workspace_id'> {
  /** Nobody is behind it: it shares with all whose requests need no key. */
  keyless?: true;
}

/** What a request has of its workspace's share. The request is under way until `end`. */
export interface WorkspaceShare {
  /** The API's database as its workspace has it. */
  db: Database;
  /** Sends an answer of so many bytes; 503 `overloaded` when those being sent to its workspace take too much memory already. */
  sending(bytes: number, send: () => Promise<void>): Promise<void>;
  /** A body whose pieces are made while its client takes it: making one is work. */
  made(body: MadeBody): MadeBody;
  /** Awaits what costs this node nothing: meanwhile the request is not at work. */
  parked<T>(wait: Promise<T>): Promise<T>;
  /** Its answer was sent. */
  end(): void;
}

export interface WorkspaceRequestsOptions {
  /** Requests of one workspace under way at most. */
  bound: number;
  db: Database;
  /** Is told of every request with a key: strangers, who could keep as many under way as they like, would have it refuse everybody's. */
  load: Pick<RequestLoad, 'begun' | 'ended'>;
  pace: RequestScheduler;
}

/**
 * Bounds what one workspace has under way at this node, whatever it is (HTTP-13): requests that wait for their operations,
 * submissions, lists; its share of the API's connections to the database; and the memory of what is sent to clients that may read
 * slowly. Past it the requests of the others still find room.
 */
export class WorkspaceRequests {
  readonly #options: WorkspaceRequestsOptions;
  readonly #workspaces = new Map<string, Workspace>();

  constructor(options: WorkspaceRequestsOptions) {
    this.#options = options;
  }

  /**
   * Gives a request of this kind its share, in its turn (`RequestScheduler.turn`). Throws 503 `overloaded` when too many of its workspace are under
   * way.
   */
  async begin(payer: Payer, kind: RequestKind): Promise<WorkspaceShare> {
    const { bound, db, load, pace } = this.#options;
    const { workspace_id: id } = payer;
    const workspace = this.#workspaces.get(id) ?? { underWay: 0, sent_bytes: 0, db: new WorkspaceDatabase(db) };
    if (workspace.underWay >= bound)
      throw new HttpError('overloaded', 'too many requests of the workspace are under way');
    this.#workspaces.set(id, workspace);
    workspace.underWay++;
    const over = () => {
      if (--workspace.underWay === 0) this.#workspaces.delete(id);
    };
    try {
      const turn = await pace.turn(id, kind);
      return new Share(workspace, turn, payer, { load: payer.keyless ? UNCOUNTED : load, pace, kind, over });
    } catch (error) {
      over();
      throw error;
    }
  }

  /** Does the work of a request within its share, and ends that with it. */
  async run<T>(payer: Payer, kind: RequestKind, work: (share: WorkspaceShare) => Promise<T>): Promise<T> {
    const share = await this.begin(payer, kind);
    try {
      return await work(share);
    } finally {
      share.end();
    }
  }
}

const UNCOUNTED = { begun() {}, ended() {} };

interface ShareParts extends Pick<WorkspaceRequestsOptions, 'load' | 'pace'> {
  kind: RequestKind;
  over(): void;
}

class Share implements WorkspaceShare {
  readonly db: Database;
  readonly #workspace: Workspace;
  readonly #workspaceId: string;
  readonly #turn: Turn;
  readonly #parts: ShareParts;

  constructor(workspace: Workspace, turn: Turn, { id, workspace_id }: Payer, parts: ShareParts) {
    this.db = workspace.db.of(id);
    this.#workspace = workspace;
    this.#workspaceId = workspace_id;
    this.#turn = turn;
    this.#parts = parts;
    parts.load.begun();
  }

  // Functions of this share, which its users take out of it.
  readonly parked = async <T>(wait: Promise<T>): Promise<T> => {
    const { load } = this.#parts;
    load.ended();
    try {
      return await this.#turn.parked(wait);
    } finally {
      load.begun();
    }
  };

  readonly sending = (bytes: number, send: () => Promise<void>): Promise<void> =>
    // Its clients may read as slowly as they like: they hold up none of its other requests.
    this.parked(sendWithin(this.#workspace, bytes, send));

  readonly made = ({ pieces, pause, ...body }: MadeBody): MadeBody => {
    const { pace, kind } = this.#parts;
    const piece = { name: `a piece of ${kind.name}`, bytes: 0 };
    const begin = () => pace.turn(this.#workspaceId, piece, LIMITS.paced_piece_wait_ms);
    return { ...body, pieces: () => inTurns(pieces(), begin, pause) };
  };

  end(): void {
    const { load, over } = this.#parts;
    this.#turn.end();
    load.ended();
    over();
  }
}

interface Workspace {
  underWay: number;
  /** Of large answers that are being sent. */
  sent_bytes: number;
  readonly db: WorkspaceDatabase;
}

/** The pieces, each of which is made in a turn of its own. */
async function* inTurns(
  pieces: AsyncIterable<Buffer>,
  begin: () => Promise<Turn>,
  pause: MadeBody['pause'],
): AsyncGenerator<Buffer> {
  const maker = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const turn = await begin();
      const made = await maker.next().finally(() => turn.end());
      if (made.done) return;
      yield made.value;
      await pause?.();
    }
  } finally {
    await maker.return?.();
  }
}

async function sendWithin(workspace: Workspace, bytes: number, send: () => Promise<void>): Promise<void> {
  // A small one is in its socket's hands at once. None is so large that it cannot be sent alone.
  if (bytes < LIMITS.streamed_answer_bytes) return send();
  if (workspace.sent_bytes > 0 && workspace.sent_bytes + bytes > LIMITS.workspace_answer_bytes) {
    throw new HttpError('overloaded', 'too many large answers to the workspace are being read');
  }
  workspace.sent_bytes += bytes;
  try {
    await send();
  } finally {
    workspace.sent_bytes -= bytes;
  }
}
