import type { ComponentChild } from 'preact';
import type { Right } from '../../../../storage/model/records.js';
import type { SessionJson } from '../../sessions.js';
import { Connections } from './connections.js';
import { Installation, Overview } from './overview.js';
import { may, type PageProps } from './page-props.js';

/** A page of the console. */
export interface PageOfConsole {
  /** What its fragment begins with. One with an id, `connections/<id>`, is a page of its own, under `connections/`. */
  path: string;
  title: string;
  /** The right without which it shows nothing: then it is neither offered nor opened. */
  needs: Right | null;
  /** It is about the installation: an operator needs no workspace for it, and nobody else sees it. */
  operator?: true;
  /** It stands in the navigation. */
  nav: boolean;
  view(props: PageProps): ComponentChild;
}

/** In the order of the navigation; the first one that a session may see is its first page. */
export const PAGES: readonly PageOfConsole[] = [
  { path: 'overview', title: 'Overview', needs: 'operations:read', nav: true, view: Overview },
  { path: 'installation', title: 'Installation', needs: null, operator: true, nav: true, view: Installation },
  { path: 'connections', title: 'Connections', needs: 'connections:read', nav: true, view: Connections },
];

export const isOpenTo = (session: SessionJson, { needs, operator }: PageOfConsole): boolean =>
  (!operator || session.kind === 'operator') && (needs === null || may(session, needs));
