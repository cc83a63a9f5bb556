import { AUDIT_ACTIONS, type AuditActorKind, type AuditTargetKind } from '../../../../storage/model/audit.js';
import type { AuditEntryJson } from '../../../routes/audit-json.js';
import { Choice, List } from './list.js';
import type { PageProps } from './page-props.js';
import { Id, Time, Title } from './parts.js';
import { hereWith, hrefOf } from './place.js';

/** Who did what in the workspace. */
export function Audit(props: PageProps) {
  return <Log {...props} title="Audit" path="/v1/audit" />;
}

/** The same over all workspaces, for operators. */
export function InstallationAudit(props: PageProps) {
  return <Log {...props} title="Audit of all" path="/v1/operator/audit" />;
}

const ACTIONS = Object.keys(AUDIT_ACTIONS).map((action) => [action, action] as const);

function Log({ api, query, live, title, path }: PageProps & { title: string; path: string }) {
  const [actor, target] = [query.get('actor'), query.get('target')];
  return (
    <>
      <Title text={title} />
      <div class="filters">
        <Choice {...{ query }} name="action" label="Action" all="Any action" values={ACTIONS} />
      </div>
      {actor && <Only what="What was done by" id={actor} without={{ actor: null }} />}
      {target && <Only what="What was done to" id={target} without={{ target: null }} />}
      <List<AuditEntryJson>
        {...{ api, query, live, path }}
        label="entries"
        field="entries"
        filters={['action', 'actor', 'target']}
        topic="audit"
        keyOf={({ id }) => id}
        columns={[
          { title: 'When', cell: ({ at }) => <Time at={at} /> },
          { title: 'Who', cell: ({ actor }) => <Actor {...actor} /> },
          { title: 'What', cell: (entry) => <What {...entry} /> },
          { title: 'On', cell: ({ targets }) => <Targets targets={targets} /> },
          { title: 'From', cell: ({ address }) => <span class="short">{address ?? 'no address'}</span> },
        ]}
        empty="Nothing was done yet."
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

/** Where a thing has a page of its own. */
const PLACES: Readonly<Partial<Record<AuditTargetKind, string>>> = {
  connection: 'connections',
  operation: 'operations',
  subscription: 'subscriptions',
  delivery: 'deliveries',
};

const SHOWN = 3;

function Targets({ targets }: Pick<AuditEntryJson, 'targets'>) {
  const more = targets.length - SHOWN;
  return (
    <span class="stacked">
      {targets.slice(0, SHOWN).map(({ kind, id }) => (
        <span key={id} class="short">
          {kind} {PLACES[kind] ? <a href={hrefOf(`${PLACES[kind]}/${id}`)}>…{id.slice(-8)}</a> : <Id id={id} />}
        </span>
      ))}
      {more > 0 && <span class="quiet">and {more} more</span>}
    </span>
  );
}
