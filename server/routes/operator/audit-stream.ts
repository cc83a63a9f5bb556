import { setTimeout as delay } from 'node:timers/promises';
import typia, { type tags } from 'typia';
import { AUDIT_START, followAudit } from '../../../storage/audit/entries.js';
import { HttpError } from '../../../storage/model/errors.js';
import { OPERATOR } from '../../../storage/model/records.js';
import { StreamPlaces } from '../../http/admission/stream-places.js';
import type { Answer } from '../../http/answer.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { positionOf } from '../paging.js';
import { auditEntryJson, workspaceEntryJson } from './audit-json.js';

/** Where a follower of the audit log goes on. */
export interface AuditStreamQuery {
  /** `cursor` of the last entry that was taken; without it the stream begins with the oldest entry. */
  cursor?: string & tags.MaxLength<512>;
}

type StreamCall = Call<undefined, undefined, AuditStreamQuery>;

const NOTHING = Buffer.alloc(0);
const EMPTY_LINE = Buffer.from('\n');
const PLACES = new StreamPlaces({
  all: LIMITS.audit_streams,
  each: LIMITS.audit_streams_workspace,
  operators: LIMITS.audit_streams_operators,
});

/** Entries as lines of JSON, each once, in an order that stays, until the client, its key or the service ends (HTTP-30). */
function stream(call: StreamCall, workspaceId: string | null): Answer {
  const position = call.query.cursor === undefined ? AUDIT_START : positionOf(call.query.cursor);
  if (!PLACES.hasRoom(call.key)) throw new HttpError('overloaded', 'too many follow the log at this node');
  const entryJson = workspaceId === null ? auditEntryJson : workspaceEntryJson;
  const end = new AbortController();
  let waits = false;
  async function* lines(): AsyncGenerator<Buffer> {
    const leave = PLACES.take(call.key, () => end.abort());
    if (!leave) return; // many have come at once
    const undrain = call.drain.onBegin(() => end.abort());
    try {
      yield EMPTY_LINE; // shows at once that the stream is there
      let written_ms = performance.now();
      for (let after = position; !end.signal.aborted; ) {
        if (!(await isKnown(call))) return;
        const rows = await followAudit(call.db, workspaceId, after, LIMITS.audit_read_rows);
        after = rows.at(-1) ?? after;
        waits = rows.length < LIMITS.audit_read_rows;
        const text = rows.map((row) => `${JSON.stringify(entryJson(row))}\n`).join('');
        const silent = text === '' && performance.now() - written_ms < LIMITS.audit_empty_line_ms;
        if (!silent) written_ms = performance.now();
        yield silent ? NOTHING : text === '' ? EMPTY_LINE : Buffer.from(text);
      }
    } finally {
      undrain();
      leave();
    }
  }
  const pause = async () => {
    if (waits) await delay(LIMITS.audit_poll_ms, undefined, { signal: end.signal }).catch(() => {});
  };
  return {
    status: 200,
    contentType: 'application/x-ndjson',
    headers: { 'X-Accel-Buffering': 'no' },
    body: { bytes: null, filler: '\n', pause, pieces: lines },
  };
}

/** Where it cannot be told, it is not: the follower comes again. */
function isKnown({ callers, sender }: StreamCall): Promise<boolean> {
  return callers.callerOf(sender).then(
    () => true,
    () => false,
  );
}

const FOLLOWS =
  'One entry a line, as the lists show it, in the order in which they became final; then what is added, about a second later. Each line has a `cursor`: a client that was cut goes on behind the last whole line that it has, and misses none. An empty line comes at once, and after a quarter of a minute without entries: it means that the stream is there. It ends with the key, and where its client reads nothing for ten seconds.';
const query = {
  numbers: [],
  validate: typia.createValidateEquals<AuditStreamQuery>(),
  schema: typia.json.schemas<[AuditStreamQuery]>(),
};
const answers = { 200: { description: 'The entries.', contentType: 'application/x-ndjson' } };

export const auditStreamRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'followAudit',
    path: '/v1/audit/stream',
    summary: 'Stream the audit log of the workspace',
    description: `Streams the audit log of the workspace. ${FOLLOWS}`,
    scopes: ['connections:write'],
    body: { kind: 'none' },
    query,
    waits: () => true,
    answers,
    handle: async (call: StreamCall) => stream(call, call.key.workspace_id),
  }),
  route({
    method: 'GET',
    operationId: 'followInstallationAudit',
    path: '/v1/operator/audit/stream',
    summary: 'Stream the audit log of the installation',
    description: `Streams the audit log over all workspaces. ${FOLLOWS}`,
    scopes: [OPERATOR],
    body: { kind: 'none' },
    query,
    waits: () => true,
    answers,
    handle: async (call: StreamCall) => stream(call, null),
  }),
];
