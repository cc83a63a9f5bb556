import type { ComponentChild } from 'preact';
import type { Right } from '../../../../storage/model/records.js';
import type { SessionJson } from '../../sessions.js';
import { Connection } from './connections/connection.js';
import { Connections } from './connections/connections.js';
import { may, type PageProps } from './kit/page-props.js';
import { Operation } from './operations/operation.js';
import { Operations } from './operations/operations.js';
import { Audit, InstallationAudit } from './operator/audit.js';
import { Keys } from './operator/keys.js';
import { Nodes } from './operator/nodes.js';
import { Installation, Overview } from './operator/overview.js';
import { Proxies } from './operator/proxies.js';
import { Delivery } from './subscriptions/delivery.js';
import { Subscription } from './subscriptions/subscription.js';
import { Subscriptions } from './subscriptions/subscriptions.js';

/** A page of the console. */
export interface PageOfConsole {
  /** What its fragment begins with. One with an id, `connections/<id>`, is a page of its own, under `connections/`. */
  path: string;
  title: string;
  /** The rights without which what it shows is refused: then it is neither offered nor opened. */
  needs: readonly Right[];
  /** It is about the installation: an operator needs no workspace for it, and nobody else sees it. */
  operator?: true;
  /** It stands in the navigation. */
  nav: boolean;
  view(props: PageProps): ComponentChild;
}

/** In the order of the navigation; the first one that a session may see is its first page. */
export const PAGES: readonly PageOfConsole[] = [
  { path: 'overview', title: 'Overview', needs: ['operations:read', 'connections:read'], nav: true, view: Overview },
  { path: 'installation', title: 'Installation', needs: [], operator: true, nav: true, view: Installation },
  { path: 'connections', title: 'Connections', needs: ['connections:read'], nav: true, view: Connections },
  { path: 'connections/', title: 'Connection', needs: ['connections:read'], nav: false, view: Connection },
  { path: 'operations', title: 'Operations', needs: ['operations:read'], nav: true, view: Operations },
  { path: 'operations/', title: 'Operation', needs: ['operations:read'], nav: false, view: Operation },
  { path: 'subscriptions', title: 'Subscriptions', needs: ['events:read'], nav: true, view: Subscriptions },
  { path: 'subscriptions/', title: 'Subscription', needs: ['events:read'], nav: false, view: Subscription },
  { path: 'deliveries/', title: 'Delivery', needs: ['events:read'], nav: false, view: Delivery },
  { path: 'keys', title: 'Keys', needs: ['connections:write'], nav: true, view: Keys },
  { path: 'audit', title: 'Audit', needs: ['connections:write'], nav: true, view: Audit },
  { path: 'audit-all', title: 'Audit of all', needs: ['operator'], operator: true, nav: true, view: InstallationAudit },
  { path: 'nodes', title: 'Nodes', needs: ['operator'], operator: true, nav: true, view: Nodes },
  { path: 'proxies', title: 'Proxies', needs: ['operator'], operator: true, nav: true, view: Proxies },
];

export const isOpenTo = (session: SessionJson, { needs, operator }: PageOfConsole): boolean =>
  (!operator || session.kind === 'operator') && may(session, ...needs);
