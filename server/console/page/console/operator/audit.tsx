import { AUDIT_ACTIONS, type AuditActorKind, type AuditTargetKind } from '../../../../../storage/model/audit.js';
import type { Right } from '../../../../../storage/model/records.js';
import type { AuditEntryJson } from '../../../../routes/operator/audit-json.js';
import type { WorkspaceJson } from '../../../../routes/operator/operator-workspaces.js';
import { Choice, List } from '../kit/list.js';
import { Moment } from '../kit/moment.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Id, Time, Title } from '../kit/parts.js';
import { hereWith, hrefOf } from '../kit/place.js';
import { Account } from '../words/accounts.js';
import { useWorkspaces } from './workspaces.js';

/** Who did what in the workspace. */
export function Audit(props: PageProps) {
  return <Log {...props} title="Audit" path="/v1/audit" />;
}

/** The same over all workspaces, for operators. Which one is looked for is no choice of the one that they work in. */
export function InstallationAudit(props: PageProps) {
  const { value = [] } = useWorkspaces(props);
  const wanted = props.query.get(OF);
  return (
    <Log
      {...props}
      title="Audit of all"
      path="/v1/operator/audit"
      workspaces={value}
      {...(wanted !== null && { fixed: { workspace: wanted } })}
    />
  );
}

/** In the fragment: the workspace that the log is about. */
const OF = 'of';

const FILTERS = ['action', 'actor', 'target', 'since', 'until', OF];
const ACTIONS = Object.keys(AUDIT_ACTIONS).map((action) => [action, action] as const);

interface LogProps extends PageProps {
  title: string;
  path: string;
  fixed?: Readonly<Record<string, string>>;
  /** Of the installation's log: all of them, by their names. */
  workspaces?: readonly WorkspaceJson[];
}

function Log({ api, session, query, live, title, path, fixed, workspaces }: LogProps) {
  const [actor, target] = [query.get('actor'), query.get('target')];
  const names = workspaces?.map(({ id, name }) => [id, name] as const);
  const workspace = {
    title: 'Workspace',
    cell: ({ workspace_id: id }: AuditEntryJson) =>
      id === null ? <span class="quiet">none</span> : (new Map(names).get(id) ?? <Id id={id} />),
  };
  return (
    <>
      <Title text={title} />
      <div class="filters">
        <Choice {...{ query }} name="action" label="Action" all="Any action" values={ACTIONS} />
        {names && <Choice {...{ query }} name={OF} label="Workspace" all="Any workspace" values={names} />}
        <Moment {...{ query }} name="since" label="Since" />
        <Moment {...{ query }} name="until" label="Until" />
      </div>
      {actor && <Only what="What was done by" id={actor} without={{ actor: null }} />}
      {target && <Only what="What was done to" id={target} without={{ target: null }} />}
      <List<AuditEntryJson>
        {...{ api, query, live, path }}
        {...(fixed && { fixed })}
        label="entries"
        field="entries"
        filters={['action', 'actor', 'target', 'since', 'until']}
        topic="audit"
        keyOf={({ id }) => id}
        columns={[
          { title: 'When', cell: ({ at }) => <Time at={at} /> },
          ...(workspaces ? [workspace] : []),
          { title: 'Who', cell: ({ actor }) => <Actor {...actor} /> },
          { title: 'What', cell: (entry) => <What {...entry} /> },
          { title: 'On', cell: (entry) => <Targets {...{ api, session, entry }} /> },
          { title: 'From', cell: ({ address }) => <span class="short">{address ?? 'no address'}</span> },
        ]}
        empty={FILTERS.some((name) => query.has(name)) ? 'Nothing like this was done.' : 'Nothing was done yet.'}
      />
    </>
  );
}

function Only({ what, id, without }: { what: string; id: string; without: Parameters<typeof hereWith>[0] }) {
  return (
    <p>
      {what} <Id id={id} /> · <a href={hereWith(without)}>Show all</a>
    </p>
  );
}

const WHO: Readonly<Record<AuditActorKind, string>> = {
  key: 'Key',
  operator: 'Operator',
  key_session: 'At the console with a key',
  operator_session: 'Operator at the console',
  command_line: 'Command line',
  link: 'The owner of the account, by a link',
  unknown: 'Somebody whose key was refused',
};

function Actor({ kind, id, name }: AuditEntryJson['actor']) {
  const called = name ?? (id && `…${id.slice(-8)}`);
  return (
    <span class="stacked">
      {called && (id ? <a href={hereWith({ actor: id })}>{called}</a> : <span>{called}</span>)}
      <span class={called ? 'quiet' : ''}>{WHO[kind]}</span>
    </span>
  );
}

function What({ action, details }: AuditEntryJson) {
  const told = Object.entries(details ?? {}).map(([name, value]) => `${name}: ${String(value)}`);
  return (
    <span class="stacked">
      {AUDIT_ACTIONS[action] ?? action}
      {told.length > 0 && <span class="quiet">{told.join(', ')}</span>}
    </span>
  );
}

/** Where a thing has a page of its own, and what it takes to open it. */
const PLACES: Readonly<Partial<Record<AuditTargetKind, readonly [path: string, needs: Right]>>> = {
  connection: ['connections', 'connections:read'],
  operation: ['operations', 'operations:read'],
  subscription: ['subscriptions', 'events:read'],
  delivery: ['deliveries', 'events:read'],
};

const SHOWN = 3;

interface TargetsProps extends Pick<PageProps, 'api' | 'session'> {
  entry: AuditEntryJson;
}

function Targets({ api, session, entry: { targets, workspace_id } }: TargetsProps) {
  const more = targets.length - SHOWN;
  if (targets.length === 0) return null;
  return (
    <span class="stacked">
      {targets.slice(0, SHOWN).map((target) => (
        <span key={target.id}>
          {target.kind} <Target {...{ api, session, target, workspace_id }} />
        </span>
      ))}
      {more > 0 && <span class="quiet">and {more} more</span>}
    </span>
  );
}

type TargetProps = Pick<PageProps, 'api' | 'session'> &
  Pick<AuditEntryJson, 'workspace_id'> & { target: AuditEntryJson['targets'][number] };

/** In the workspace that the entry concerns, which need not be the one that an operator works in: names are asked for in that one alone. */
function Target({ api, session, target: { kind, id }, workspace_id }: TargetProps) {
  const [path, needs] = PLACES[kind] ?? [];
  if (path === undefined || needs === undefined || !may(session, needs)) return <Id id={id} />;
  const operator = session.kind === 'operator';
  if (kind === 'connection' && (!operator || workspace_id === api.workspace))
    return <Account {...{ api, session, id }} />;
  return (
    <a class="short" href={hrefOf(`${path}/${id}`, operator ? { workspace: workspace_id } : {})}>
      …{id.slice(-8)}
    </a>
  );
}
