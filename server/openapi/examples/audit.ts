import type { AuditJson } from '../../routes/operator/audit.js';
import { placeCursor, positionCursor } from '../../routes/paging.js';
import { AT, CONNECTION, KEY, WORKSPACE } from './values.js';

/** An entry of each kind of actor would say no more than one. */
const ENTRY = '01970000-0000-7000-8000-0000000000a1';

export const audit: AuditJson = {
  entries: [
    {
      id: ENTRY,
      at: AT,
      workspace_id: WORKSPACE,
      actor: { kind: 'key', id: KEY, name: 'backend' },
      action: 'connection.create',
      targets: [{ kind: 'connection', id: CONNECTION }],
      address: '203.0.113.7',
      request_id: '01970000-0000-7000-8000-0000000000a2',
      details: { provider: 'social' },
      cursor: positionCursor({ xact: '7301', id: ENTRY }),
    },
  ],
  next_cursor: placeCursor({ created_us: Date.parse(AT) * 1000, id: ENTRY }),
};
