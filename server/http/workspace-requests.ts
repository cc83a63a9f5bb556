import { HttpError } from '../../storage/model/errors.js';
import type { Database } from '../../storage/postgres/database.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import type { MadeBody } from './answer.js';
import { LIMITS } from './limits.js';
import type { RequestLoad } from './request-load.js';
import type { RequestKind, RequestPace, Turn } from './request-pace.js';
import { WorkspaceDatabase } from './workspace-database.js';

/**
 * Does the work of one request of this kind (`RequestPace.turn`) with this key, or throws 503 `overloaded` when too many of its
 * workspace are under way. Until it has ended, its answer sent, the request is under way.
 */
export type WorkspaceRequests = <T>(
  payer: Payer,
  kind: RequestKind,
  work: (share: WorkspaceShare) => Promise<T>,
) => Promise<T>;

/** Whose share of this node a request takes: its workspace's, where it is known. */
export interface Payer extends Pick<UsableKey, 'id' | 'workspace_id'> {
  /** Nobody is behind it: it shares with all whose requests need no key. */
  keyless?: true;
}

/** What a request has of its workspace's share. */
export interface WorkspaceShare {
  /** The API's database as its workspace has it. */
  db: Database;
  /** Sends an answer of so many bytes; 503 `overloaded` when those being sent to its workspace take too much memory already. */
  sending(bytes: number, send: () => Promise<void>): Promise<void>;
  /** A body whose pieces are made while its client takes it: making one is work. */
  made(body: MadeBody): MadeBody;
  /** Awaits what costs this node nothing: meanwhile the request is not at work. */
  parked<T>(wait: Promise<T>): Promise<T>;
}

export interface WorkspaceRequestsOptions {
  /** Requests of one workspace under way at most. */
  bound: number;
  db: Database;
  /** Is told of every request with a key: strangers, who could keep as many under way as they like, would have it refuse everybody's. */
  load: Pick<RequestLoad, 'begun' | 'ended'>;
  pace: RequestPace;
}

/**
 * Bounds what one workspace has under way at this node, whatever it is (HTTP-13): requests that wait for their operations,
 * submissions, lists; its share of the API's connections to the database; and the memory of what is sent to clients that may read
 * slowly. Past it the requests of the others still find room.
 */
export function workspaceRequests({ bound, db, load, pace }: WorkspaceRequestsOptions): WorkspaceRequests {
  const workspaces = new Map<string, Workspace>();
  const uncounted = { begun() {}, ended() {} };
  return async ({ id, workspace_id, keyless }, kind, work) => {
    const counted = keyless ? uncounted : load;
    const workspace = workspaces.get(workspace_id) ?? { underWay: 0, sent_bytes: 0, db: new WorkspaceDatabase(db) };
    if (workspace.underWay >= bound)
      throw new HttpError('overloaded', 'too many requests of the workspace are under way');
    workspaces.set(workspace_id, workspace);
    workspace.underWay++;
    let turn: Turn | undefined;
    const piece = { name: `a piece of ${kind.name}`, bytes: 0 };
    try {
      const given = await pace.turn(workspace_id, kind);
      turn = given;
      counted.begun();
      const parked: WorkspaceShare['parked'] = async (wait) => {
        counted.ended();
        try {
          return await given.parked(wait);
        } finally {
          counted.begun();
        }
      };
      return await work({
        db: workspace.db.of(id),
        made: ({ pieces, pause, ...body }) => ({
          ...body,
          pieces: () => inTurns(pieces(), () => pace.turn(workspace_id, piece, LIMITS.paced_piece_wait_ms), pause),
        }),
        // Its clients may read as slowly as they like: they hold up none of its other requests.
        sending: (bytes, send) => parked(sendWithin(workspace, bytes, send)),
        parked,
      });
    } finally {
      turn?.end();
      if (turn) counted.ended();
      if (--workspace.underWay === 0) workspaces.delete(workspace_id);
    }
  };
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
