import { useEffect, useState } from 'preact/hooks';
import type { WorkspaceJson, WorkspacesJson } from '../../../../routes/operator/operator-workspaces.js';
import { useLoaded } from '../kit/loaded.js';
import type { PageProps } from '../kit/page-props.js';
import { Empty, Problem, Title } from '../kit/parts.js';
import { hrefOf } from '../kit/place.js';

/** All of them: an installation has few, and they are found by name. */
export function useWorkspaces({ api, session, live }: PageProps) {
  const none: WorkspaceJson[] = [];
  const load = async () =>
    session.kind === 'operator' ? (await api.get<WorkspacesJson>('/v1/operator/workspaces')).workspaces : none;
  return useLoaded(load, [session.id], live, null);
}

const SHOWN = 100;

/** An operator works in one workspace at a time, and chooses it by name. */
export function WorkspaceChoice({
  props,
  workspaces,
}: {
  props: PageProps;
  workspaces: ReturnType<typeof useWorkspaces>;
}) {
  const [text, setText] = useState('');
  const { value, error, again } = workspaces;
  const found = value?.filter(({ name, id }) => id === text || name.toLowerCase().includes(text.toLowerCase())) ?? [];
  const { query } = props;
  useEffect(again, []);
  return (
    <>
      <Title text="Choose a workspace" />
      <Problem error={error} again={again} />
      <label class="filter">
        Name
        <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value.trim())} />
      </label>
      <ul class="choices">
        {found.slice(0, SHOWN).map(({ id, name }) => (
          <li key={id}>
            <a href={hrefOf('', { workspace: id })} aria-current={query.get('workspace') === id}>
              {name}
            </a>
            <code class="quiet">{id.slice(-8)}</code>
          </li>
        ))}
      </ul>
      {value && found.length === 0 && <Empty text="No workspace has this name." />}
      {found.length > SHOWN && <p class="quiet">{found.length - SHOWN} more. Enter more of the name.</p>}
    </>
  );
}
