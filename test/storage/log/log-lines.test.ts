import { pino } from 'pino';
import t from 'tap';
import type { Logger } from '../../../storage/log/log.js';
import { LogLines, type RequestLine } from '../../../storage/log/log-lines.js';
import type { EndedOperation } from '../../../storage/model/ended-operation.js';

/** Lines of a logger of this level, with what it wrote. */
function linesAt(level: string, share?: number) {
  const written: Record<string, unknown>[] = [];
  const log = pino({ level, base: { node: 'n1' } }, { write: (line) => written.push(JSON.parse(line)) });
  return { lines: new LogLines(log as unknown as Logger, share), written };
}

const REQUEST: RequestLine = {
  ...{ request_id: 'r', trace_id: undefined, method: 'GET', route: '/v1/operations/{id}', status: 200, duration_ms: 1 },
  ...{ key_id: 'k', operator_id: undefined, workspace_id: 'w', connection_id: undefined, operation_id: undefined },
  error_code: undefined,
};
const ENDED: EndedOperation = {
  ...{ id: 'o', workspace_id: 'w', connection_id: 'c', capability: 'social.profile.get', status: 'succeeded' },
  ...{ error_code: null, attempts: 1, request_id: 'r', traceparent: null },
};

t.test('of a share of none, requests that went well are left out, and no others', async (t) => {
  const { lines } = linesAt('info', 0);
  t.equal(lines.wants('info', 'r', 200), false);
  t.equal(lines.wants('info', 'r', 399), false);
  for (const status of [400, 404, 503, 'aborted'] as const)
    t.equal(lines.wants('info', 'r', status), true, `${status}`);
});

t.test('with the whole share every request is wanted, as far as the level goes', async (t) => {
  const { lines } = linesAt('info');
  t.equal(lines.wants('info', 'r', 200), true);
  t.equal(lines.wants('debug', 'r', 200), false);
  t.equal(lines.wants('debug', 'r', 500), false);
  t.equal(linesAt('warn').lines.wants('info', 'r', 500), false);
});

t.test('a part of the share keeps the same requests everywhere, about as many as it says', async (t) => {
  const [one, other] = [linesAt('info', 0.25).lines, linesAt('info', 0.25).lines];
  const ids = Array.from({ length: 4_000 }, (_, i) => `0199${i}`);
  const kept = ids.filter((id) => one.wants('info', id, 200));
  t.strictSame(
    ids.filter((id) => other.wants('info', id, 200)),
    kept,
  );
  t.ok(kept.length > 800 && kept.length < 1_200, `${kept.length}`);
});

t.test('a line has the fields, the base of the logger and its level', async (t) => {
  const { lines, written } = linesAt('debug');
  lines.request('debug', REQUEST);
  t.match(written, [{ level: 20, node: 'n1', msg: 'request', request_id: 'r', status: 200 }]);
});

t.test('ends that went wrong are told whatever the share is, an unknown outcome as a warning', async (t) => {
  const { lines, written } = linesAt('info', 0);
  for (const status of ['succeeded', 'skipped', 'canceled', 'failed', 'outcome_unknown'] as const) {
    lines.operationEnded({ ...ENDED, status });
  }
  t.match(written, [
    { level: 30, status: 'failed', operation_id: 'o', msg: 'operation ended' },
    { level: 40, status: 'outcome_unknown' },
  ]);
  t.equal(written.length, 2);
});
