import typia from 'typia';
import { OPERATOR } from '../../../storage/model/records.js';
import type { ListPlace } from '../../../storage/postgres/list-place.js';
import { listWorkspaces, type WorkspaceRow } from '../../../storage/workspaces/workspaces.js';
import type { Answer } from '../../http/answer.js';
import type { Timestamp, Uuid } from '../../http/fields.js';
import { type Call, type Route, route } from '../../http/route.js';
import { listAnswer } from '../list-answer.js';
import type { CursorQuery } from '../paging.js';

/** Every workspace of the installation, or a page of them. */
export interface WorkspacesJson {
  /** The workspaces, oldest first. */
  workspaces: WorkspaceJson[];
  /** With `limit` or `cursor` only: where the next page begins, null on the last one. */
  next_cursor?: string | null;
}

/** A tenant of the service. */
export interface WorkspaceJson {
  /** Id of the workspace: what `Console-Workspace` names. */
  id: Uuid;
  /** What people call it. */
  name: string;
  /** When it was made. */
  created_at: Timestamp;
}

const workspaceJson = ({ id, name, created_at }: WorkspaceRow): WorkspaceJson => ({
  ...{ id, name },
  created_at: created_at.toISOString(),
});

async function list({ db, query }: Call<undefined, undefined, CursorQuery>): Promise<Answer> {
  const name = 'workspaces' satisfies keyof WorkspacesJson;
  const read = (after: ListPlace, limit: number) => listWorkspaces(db, after, limit);
  return listAnswer({ name, read, show: workspaceJson }, query);
}

export const operatorWorkspaceRoutes: Route[] = [
  route({
    method: 'GET',
    operationId: 'listWorkspaces',
    path: '/v1/operator/workspaces',
    summary: 'List workspaces',
    description:
      'Lists the workspaces in the order of their creation, for operators. Without `limit` and `cursor` it answers all of them.',
    scopes: [OPERATOR],
    body: { kind: 'none' },
    query: {
      numbers: ['limit'],
      validate: typia.createValidateEquals<CursorQuery>(),
      schema: typia.json.schemas<[CursorQuery]>(),
    },
    answers: { 200: { description: 'The workspaces.', schema: typia.json.schemas<[WorkspacesJson]>() } },
    handle: list,
  }),
];
