import type { AttentionJson } from '../../routes/operator/attention.js';
import type { InstallationOverviewJson, OverviewJson } from '../../routes/operator/overview.js';
import { AT, CONNECTION, OPERATION, OWN_HASH_ID } from './values.js';

/** What happened, and what needs somebody. */

export const attention: AttentionJson = {
  attention: [
    {
      kind: 'outcome_unknown',
      severity: 'critical',
      count: 1,
      more: false,
      entries: [
        {
          id: OPERATION,
          name: OWN_HASH_ID,
          connection_id: CONNECTION,
          cause: 'social.message.send may have happened, or not: nobody has looked.',
          since: AT,
          path: `/v1/operations/${OPERATION}`,
        },
      ],
    },
    {
      kind: 'connection_unready',
      severity: 'warning',
      count: 1,
      more: false,
      entries: [
        {
          id: CONNECTION,
          name: OWN_HASH_ID,
          connection_id: CONNECTION,
          cause: 'It was disconnected.',
          since: AT,
          path: `/v1/connections/${CONNECTION}`,
        },
      ],
    },
  ],
};

/** Two steps of it. */
export const overview: OverviewJson = {
  from: AT,
  step_s: 10,
  accepted: [3, 5],
  succeeded: [2, 4],
  failed: [0, 1],
  canceled: [0, 0],
  unknown: [0, 0],
  delivered: [2, 4],
  undelivered: [0, 0],
  p50_ms: [120, 140],
  p99_ms: [900, 1800],
};
export const installation: InstallationOverviewJson = {
  ...overview,
  queued: [1, 0],
  oldest_queued_s: [0.5, 0],
  database_ms: [0.4, 0.5],
  threads: [3, 3],
  pages: [2, 4],
  runs_waiting: [0, 1],
};
