import { useEffect, useState } from 'preact/hooks';
import { Announced } from './kit/announced.js';
import { LIVE_STATE, type Live } from './kit/live.js';
import type { PageProps } from './kit/page-props.js';
import { Action, Empty, Title } from './kit/parts.js';
import { hrefOf, type Place } from './kit/place.js';
import { ShownSecret, type useSecrets } from './kit/shown-secret.js';
import { useWorkspaces, WorkspaceChoice } from './operator/workspaces.js';
import { isOpenTo, PAGES, type PageOfConsole } from './pages.js';

const CHOICE = 'workspaces';
const UNSTORED = 'A secret is shown that was not put away. It can never be read again.';

interface FrameProps {
  props: PageProps;
  place: Place;
  secrets: ReturnType<typeof useSecrets>;
  signOut: () => Promise<void>;
}

/** What stands around every page: where one can go, in which workspace, as whom, and whether what is shown is what is. */
export function Frame({ props, place, secrets, signOut }: FrameProps) {
  const { session, live } = props;
  const workspaces = useWorkspaces(props);
  const pages = PAGES.filter((page) => isOpenTo(session, page));
  const wanted = place.path === '' ? pages[0]?.path : place.path;
  const workspace = session.workspace ?? workspaces.value?.find(({ id }) => id === place.query.get('workspace'));
  return (
    <>
      {/* No link: the fragment is the console's own. */}
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header>
        <strong>Console</strong>
        <nav aria-label="Pages">
          {pages
            .filter(({ nav }) => nav)
            .map(({ path, title }) => (
              <a key={path} href={hrefOf(path)} aria-current={wanted === path ? 'page' : undefined}>
                {title}
              </a>
            ))}
        </nav>
        <div class="who">
          <Freshness live={live} />
          {workspace && <span>{workspace.name}</span>}
          {session.kind === 'operator' && <a href={hrefOf(CHOICE)}>{workspace ? 'Change' : 'Choose a workspace'}</a>}
          <span class="quiet">{session.name ?? (session.kind === 'operator' ? 'operator' : 'key')}</span>
          <Action label="Sign out" {...(secrets.kept.length > 0 && { confirm: UNSTORED })} run={signOut} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Announced />
        {secrets.kept.map((secret) => (
          <ShownSecret key={secret.id} secret={secret} putAway={secrets.putAway} />
        ))}
        <Shown {...{ props, place, workspaces }} page={pageAt(place, wanted ?? '')} />
      </main>
    </>
  );
}

const pageAt = (place: Place, wanted: string): PageOfConsole | undefined =>
  PAGES.find(({ path }) => path === (place.id === undefined ? wanted : `${wanted}/`));

interface ShownProps {
  props: PageProps;
  place: Place;
  page: PageOfConsole | undefined;
  workspaces: ReturnType<typeof useWorkspaces>;
}

function Shown({ props, place, page, workspaces }: ShownProps) {
  const { session, api } = props;
  const operator = session.kind === 'operator';
  if (operator && (place.path === CHOICE || (!page?.operator && api.workspace === null)))
    return <WorkspaceChoice {...{ props, workspaces }} />;
  if (!page) return <Missing title="No such page" text="The address leads nowhere. Choose a page above." />;
  if (!isOpenTo(session, page)) {
    const [first, ...more] = page.needs;
    const scopes = more.length > 0 ? `scopes ${page.needs.join(' and ')}` : `scope ${first}`;
    const wanted = page.operator ? 'the key of an operator' : `a key with the ${scopes}`;
    return <Missing title={page.title} text={`This page needs ${wanted}.`} />;
  }
  const View = page.view;
  return <View key={`${page.path}${props.id ?? ''}@${api.workspace ?? ''}`} {...props} />;
}

function Missing({ title, text }: { title: string; text: string }) {
  return (
    <>
      <Title text={title} />
      <Empty text={text} />
    </>
  );
}

const FRESHNESS: Readonly<Record<Live['state'], string>> = {
  live: 'Up to date',
  stale: 'Not up to date',
  failing: 'The service cannot answer',
  cut: 'No connection to the service',
};

function Freshness({ live }: { live: Live }) {
  const [state, setState] = useState(live.state);
  useEffect(() => live.on(LIVE_STATE, () => setState(live.state)), [live]);
  return (
    <span class={`freshness ${state}`} role="status">
      {FRESHNESS[state]}
    </span>
  );
}
