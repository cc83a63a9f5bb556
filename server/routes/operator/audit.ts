import typia, { type tags } from 'typia';
import { type AuditRow, listAudit } from '../../../storage/audit/entries.js';
import type { AuditAction } from '../../../storage/model/audit.js';
import { OPERATOR } from '../../../storage/model/records.js';
import type { Sql } from '../../../storage/postgres/database.js';
import { type Answer, json } from '../../http/answer.js';
import { momentAt, type Uuid } from '../../http/fields.js';
import { LIMITS } from '../../http/limits.js';
import { type Call, type Route, route } from '../../http/route.js';
import { type CursorQuery, placeCursor, placeOf } from '../paging.js';
import { type AuditEntryJson, auditEntryJson, workspaceEntryJson } from './audit-json.js';

/** Filters and paging of the audit log. */
export interface AuditQuery extends CursorQuery {
  /** Only what this key or operator did, by its id. */
  actor?: Uuid;
  /** Only this action. */
  action?: AuditAction;
  /** Only what was done to this, by its id. */
  target?: Uuid;
  /** Only what was done at this moment or later, in ISO 8601. */
  since?: string & tags.Format<'date-time'>;
  /** Only what was done before this moment, in ISO 8601. */
  until?: string & tags.Format<'date-time'>;
}

/** The same over all workspaces. */
export interface InstallationAuditQuery extends AuditQuery {
  /** Only what concerns this workspace. */
  workspace?: Uuid;
}

/** A page of the audit log. */
export interface AuditJson {
  /** The entries, newest first. */
  entries: AuditEntryJson[];
  /** Where the next page begins, null on the last one. A page may be short, or empty, and go on. */
  next_cursor: string | null;
}

async function page(
  db: Sql,
  workspaceId: string | null,
  query: AuditQuery,
  entryJson: (row: AuditRow) => AuditEntryJson,
): Promise<Answer> {
  const { actor = null, action = null, target = null, cursor, limit = LIMITS.page_rows } = query;
  const filter = { workspaceId, actorId: actor, action, targetId: target };
  const time = (name: 'since' | 'until') => (query[name] === undefined ? null : momentAt(`query.${name}`, query[name]));
  const times = { since: time('since'), until: time('until') };
  const before = cursor === undefined ? null : placeOf(cursor);
  const { entries, next } = await listAudit(db, { ...filter, ...times }, before, limit);
  return json(200, {
    entries: entries.map(entryJson),
    next_cursor: next && placeCursor(next),
  } satisfies AuditJson);
}

const AUDIT = typia.json.schemas<[AuditJson]>();
const PAGES =
  'Filters may be joined. Submissions are found by `target` under their operations, not under their connection. What a filter by `action` looks for may be rare: a page looks at a bounded number of entries, so it may be short, or empty, and go on.';

export const auditRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listAudit',
    path: '/v1/audit',
    summary: 'List the audit log of the workspace',
    description: `Lists what was changed and revealed in the workspace, and who signed in to it. ${PAGES}`,
    scopes: ['connections:write'],
    body: { kind: 'none' },
    query: {
      numbers: ['limit'],
      validate: typia.createValidateEquals<AuditQuery>(),
      schema: typia.json.schemas<[AuditQuery]>(),
    },
    answers: { 200: { description: 'A page of the log.', schema: AUDIT } },
    handle: ({ db, key, query }: Call<undefined, undefined, AuditQuery>) =>
      page(db, key.workspace_id, query, workspaceEntryJson),
  }),
  route({
    method: 'GET',
    operationId: 'listInstallationAudit',
    path: '/v1/operator/audit',
    summary: 'List the audit log of the installation',
    description: `Lists the same over all workspaces, with what spans them: operators, proxies, the command line, refused sign-ins. ${PAGES}`,
    scopes: [OPERATOR],
    body: { kind: 'none' },
    query: {
      numbers: ['limit'],
      validate: typia.createValidateEquals<InstallationAuditQuery>(),
      schema: typia.json.schemas<[InstallationAuditQuery]>(),
    },
    answers: { 200: { description: 'A page of the log.', schema: AUDIT } },
    handle: ({ db, query: { workspace, ...query } }: Call<undefined, undefined, InstallationAuditQuery>) =>
      page(db, workspace ?? null, query, auditEntryJson),
  }),
];
