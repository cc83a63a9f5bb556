import { HttpError } from '../../storage/model/errors.js';

/** Does the work of one request of this workspace, or throws 503 `overloaded` when too many of it are under way. */
export type WorkspaceRequests = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>;

/**
 * Bounds what one workspace has under way at this node, whatever it is (HTTP-13): requests that wait for their operations,
 * submissions, lists. Past it the requests of the others still find room.
 */
export function workspaceRequests(bound: number): WorkspaceRequests {
  const underWay = new Map<string, number>();
  return async (workspaceId, work) => {
    const before = underWay.get(workspaceId) ?? 0;
    if (before >= bound) throw new HttpError('overloaded', 'too many requests of the workspace are under way');
    underWay.set(workspaceId, before + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(workspaceId) as number) - 1;
      if (left > 0) underWay.set(workspaceId, left);
      else underWay.delete(workspaceId);
    }
  };
}
