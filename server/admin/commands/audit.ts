import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  type AuditFilter,
  type AuditPosition,
  type AuditRow,
  auditEnd,
  followAudit,
  listAudit,
} from '../../../storage/audit/entries.js';
import type { AuditAction } from '../../../storage/model/audit.js';
import { LIMITS } from '../../http/limits.js';
import { auditEntryJson } from '../../routes/operator/audit-json.js';
import { placeCursor, placeOf, positionCursor } from '../../routes/paging.js';
import type { Answer } from '../answer.js';
import { auditAction, id, isoTime, pageLimit } from '../arguments.js';
import type { AdminSession, Perform } from '../session.js';
import { auditPartCommands } from './audit-parts.js';

interface ListOptions {
  workspace?: string;
  actor?: string;
  action?: AuditAction;
  target?: string;
  since?: Date;
  cursor?: string;
  limit: number;
  follow?: true;
}

/** `audit list [--follow]`, and what `audit-parts.ts` has: who did what, newest first; with `--follow` what is added from now on, a line each (HTTP-30). */
export function auditCommands(program: Command, perform: Perform): void {
  const audit = program.command('audit').description('who did what, on what, from where, when');
  auditPartCommands(audit, perform);
  audit
    .command('list')
    .description('newest first; a page may be short, or empty, and go on: next_cursor is null behind the last one')
    .option('--workspace <id>', 'only of this workspace', id)
    .option('--actor <id>', 'only of this key or operator', id)
    .option('--action <name>', 'only this action', auditAction)
    .option('--target <id>', 'only what was done to this', id)
    .option('--since <time>', 'ISO 8601', isoTime)
    .option('--cursor <cursor>', "the former page's next_cursor")
    .option('--limit <n>', 'rows of a page, at most 100', pageLimit, 20)
    .option('--follow', 'write what is added from now on, one line each, until it is interrupted')
    .action((options: ListOptions) => {
      const filter: AuditFilter = {
        workspaceId: options.workspace ?? null,
        actorId: options.actor ?? null,
        action: options.action ?? null,
        targetId: options.target ?? null,
        since: options.since ?? null,
        until: null,
      };
      perform((session) => (options.follow ? follow(session, filter) : list(session, filter, options)), {
        action: 'command.read',
      });
    });
}

async function list({ db }: AdminSession, filter: AuditFilter, { cursor, limit }: ListOptions): Promise<Answer> {
  const before = cursor === undefined ? null : placeOf(cursor);
  const { entries, next } = await listAudit(db, filter, before, limit);
  return { entries: entries.map(auditEntryJson), next_cursor: next && placeCursor(next) };
}

/** Until the command is interrupted, or nobody reads it any more. It is recorded before its first line, as it may be killed at any. */
async function follow({ db, recordNamed }: AdminSession, filter: AuditFilter): Promise<Answer> {
  await recordNamed();
  const interrupted = new AbortController();
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupted.abort();
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  let after: AuditPosition = await auditEnd(db);
  while (!interrupted.signal.aborted) {
    const rows = await followAudit(db, filter.workspaceId, after, LIMITS.audit_read_rows);
    for (const row of rows.filter((one) => isWanted(one, filter))) {
      process.stdout.write(`${JSON.stringify(auditEntryJson(row))}\n`);
    }
    after = rows.at(-1) ?? after;
    if (rows.length < LIMITS.audit_read_rows)
      await delay(LIMITS.audit_poll_ms, undefined, { signal: interrupted.signal }).catch(() => {});
  }
  return { followed_to: positionCursor(after) };
}

function isWanted(row: AuditRow, { actorId, action, targetId, since }: AuditFilter): boolean {
  const byActor = actorId === null || row.actor_id === actorId;
  const byAction = action === null || row.action === action;
  const byTarget = targetId === null || row.target_ids.includes(targetId);
  return byActor && byAction && byTarget && (since === null || row.at >= since);
}
