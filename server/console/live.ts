import { setTimeout as delay } from 'node:timers/promises';
import { HttpError } from '../../storage/model/errors.js';
import type { Right } from '../../storage/model/records.js';
import type { Topic } from '../../storage/overview/changes.js';
import type { UsableKey } from '../../storage/workspaces/keys.js';
import { StreamPlaces } from '../http/admission/stream-places.js';
import type { Answer } from '../http/answer.js';
import { LIMITS } from '../http/limits.js';
import { type Call, type Route, route } from '../http/route.js';

type LiveCall = Call<undefined, undefined, undefined>;

/** What a session must be allowed to be told that something of a topic has changed. */
const NEEDS: Readonly<Record<Topic, readonly Right[]>> = {
  connections: ['connections:read'],
  operations: ['operations:read'],
  subscriptions: ['events:read'],
  overview: ['operations:read', 'connections:read'],
  attention: ['operations:read', 'connections:read'],
};

/** A comment, which those who read the stream pass over. */
const FILLER = ':\n';
const COMMENT = Buffer.from(':\n\n');
/** Shows at once that the stream is there. */
const OPENED = Buffer.from('event: open\ndata:\n\n');
const NOTHING = Buffer.alloc(0);
/** What operators look at changes without anything that is counted: a node that falls silent. */
const INSTALLATION: readonly Topic[] = ['overview', 'attention'];
const PLACES = new StreamPlaces({
  all: LIMITS.live_streams,
  each: LIMITS.live_streams_workspace,
  operators: LIMITS.live_streams_operators,
});

/** Streams what changes in the session's workspace, for an operator that names none in any of them (HTTP-29). */
async function live(call: LiveCall): Promise<Answer> {
  const { callers, sender } = call;
  const key = await callers.callerOf(sender);
  call.context.key = key;
  const anywhere = key.kind === 'operator' && sender.headers['console-workspace'] === '';
  const workspaceId = anywhere ? null : (await callers.inWorkspace(key, sender)).workspace_id;
  if (!PLACES.hasRoom(key)) throw new HttpError('overloaded', 'too many pages watch this node');
  const allowed = (topic: Topic) => NEEDS[topic].every((right) => key.scopes.includes(right));
  return {
    status: 200,
    contentType: 'text/event-stream; charset=utf-8',
    headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
    body: { bytes: null, filler: FILLER, pieces: () => events(call, key, workspaceId, allowed) },
  };
}

/** An event a second at most, until the session or the service ends. */
async function* events(
  { callers, sender, changes, drain }: LiveCall,
  key: UsableKey,
  workspaceId: string | null,
  allowed: (topic: Topic) => boolean,
): AsyncGenerator<Buffer> {
  const end = new AbortController();
  const leave = PLACES.take(key, () => end.abort());
  if (!leave) return; // many have come at once
  const changed = new Set<Topic>();
  const unwatch = changes.watch(workspaceId, (topics) => {
    for (const topic of topics) if (allowed(topic)) changed.add(topic);
  });
  const undrain = drain.onBegin(() => end.abort());
  try {
    yield OPENED;
    let quiet_ms = 0;
    let looked_ms = 0;
    while (!end.signal.aborted) {
      await delay(LIMITS.live_event_ms, undefined, { signal: end.signal }).catch(() => {});
      if (end.signal.aborted || !(await isSignedIn(callers, sender))) return;
      looked_ms += LIMITS.live_event_ms;
      if (key.kind === 'operator' && looked_ms % LIMITS.live_installation_ms === 0)
        for (const topic of INSTALLATION) changed.add(topic);
      quiet_ms = changed.size > 0 ? 0 : quiet_ms + LIMITS.live_event_ms;
      const topics = [...changed];
      changed.clear();
      if (topics.length > 0) yield Buffer.from(`event: changed\ndata: ${JSON.stringify(topics)}\n\n`);
      else yield quiet_ms % LIMITS.live_comment_ms === 0 ? COMMENT : NOTHING;
    }
  } finally {
    undrain();
    unwatch();
    leave();
  }
}

/** Where it cannot be told, it is not: the page comes again. */
async function isSignedIn(callers: LiveCall['callers'], sender: LiveCall['sender']): Promise<boolean> {
  return callers.callerOf(sender).then(
    () => true,
    () => false,
  );
}

export const liveRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'watchChanges',
    path: '/console/live',
    summary: 'Open the live channel',
    description:
      'A stream of server-sent events, for the console: `changed` has the topics in which something has changed since the last one, among `connections`, `operations`, `subscriptions`, `overview`, `attention`, as a list in JSON; at most one a second. It is about the workspace of the session; for an operator about the one that `Console-Workspace` names, or about all of them, with `overview` and `attention` every ten seconds, since what it sees of the installation changes without a workspace. It ends with the session, and where its client reads nothing for ten seconds.',
    scopes: 'none',
    session: true,
    body: { kind: 'none' },
    waits: () => true,
    answers: { 200: { description: 'The events.', contentType: 'text/event-stream' } },
    refusals: ['unauthorized', 'cross_site', 'overloaded'],
    handle: live,
  }),
];
