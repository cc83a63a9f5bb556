import { Deadline } from '../../../storage/process/deadline.js';
import { askUntil } from '../../kit/eventually.js';
import { mapConcurrent } from '../../kit/map-concurrent.js';
import type { Force, Shot } from './force.js';
import { LIMITS } from './limits.js';

/** What attacks of a tenant put in place, and take away again. */

/** Simulated connections of the greedy workspace. What stands in `words` goes into the actor's id, where triggers are read. */
export function connect(force: Force, many: number, words = ''): Promise<string[]> {
  const numbers = Array.from({ length: many }, (_, number) => number);
  return mapConcurrent(numbers, (number) => {
    const external_actor = { kind: 'person', id: `greedy-${number}${words}` };
    return force.api.connect({ provider: 'simulated', external_actor });
  });
}

/** Subscribes `each` times on every connection, as long as the service lets it. Gives the ids of those it has. */
export async function subscribe(force: Force, connections: string[], each: number, url: string): Promise<string[]> {
  const wanted = connections.flatMap((id) => Array.from({ length: each }, (_, number) => ({ id, number })));
  const { secret } = force.tenant.identity;
  const made = await mapConcurrent(wanted, ({ id, number }) =>
    force.api.subscribe(id, `${url}/${number}`, secret).catch((error: unknown) => {
      if (/: 4\d\d /.test(String(error))) return undefined;
      throw error;
    }),
  );
  return made.filter((id) => id !== undefined);
}

/** How many of the wanted subscriptions there are. */
export function granted(subscriptions: string[], wanted: number): string {
  return subscriptions.length === wanted ? '' : `${subscriptions.length} of ${wanted} subscriptions were granted`;
}

/** Records an event of a connection. */
export function event(force: Force, connectionId: string): Shot {
  const body = { type: 'message_received', data: { message_body: 'The quick brown fox jumps over the lazy dog' } };
  return { method: 'POST', path: `/v1/connections/${connectionId}/simulated-events`, headers: force.key, body };
}

export async function deactivate(force: Force, subscriptions: string[]): Promise<void> {
  await mapConcurrent(subscriptions, (id) =>
    patiently(() => force.api.send('PATCH', `/v1/subscriptions/${id}`, { active: false })),
  );
}

const OPEN = ['queued', 'running', 'waiting_user'];

/** Cancels whatever of the workspace has not ended, also what was accepted without its submitter learning of it. */
export async function cancelAll(force: Force): Promise<void> {
  const cancelSome = async () => {
    const some = (await Promise.all(OPEN.map((status) => openOperations(force, status)))).flat();
    await mapConcurrent(some, (id) => force.api.send('POST', `/v1/operations/${id}/cancel`));
    return some.length === 0;
  };
  // What is refused now is accepted later.
  await askUntil(
    () => cancelSome().catch(() => false),
    (none) => none,
    { ms: LIMITS.clear_ms / 2 },
  );
}

interface OperationsPage {
  operations: { id: string; cancel_requested: boolean }[];
  next_cursor: string | null;
}

/** Those of one page that are not to be canceled already; of a page without any, those of the next: a page may be empty and not the last. */
async function openOperations(force: Force, status: string): Promise<string[]> {
  for (let cursor = ''; ; ) {
    const { body } = await force.api.send('GET', `/v1/operations?status=${status}${cursor}`);
    const { operations, next_cursor } = body as OperationsPage;
    const open = operations.filter(({ cancel_requested }) => !cancel_requested).map(({ id }) => id);
    if (open.length > 0 || next_cursor === null) return open;
    cursor = `&cursor=${next_cursor}`;
  }
}

/**
 * Again and again until it succeeds, each time with a limit of its own: after an attack the service may still refuse, or not answer.
 * Throws the last failure when it never does.
 */
async function patiently(work: () => Promise<unknown>): Promise<void> {
  let last: unknown;
  const tried = () =>
    Deadline.within(LIMITS.answer_ms, work()).then(
      () => true,
      (error: unknown) => {
        last = error;
        return false;
      },
    );
  // Less than the whole may take, so that the failure itself is told.
  const { held } = await askUntil(tried, (done) => done, { ms: LIMITS.clear_ms / 2 });
  if (!held) throw last;
}
