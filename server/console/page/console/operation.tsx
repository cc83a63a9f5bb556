import type { ConnectionJson } from '../../../routes/connection-json.js';
import type { OperationJson } from '../../../routes/operation-json.js';
import { ChallengeCard } from './challenge.js';
import { accountOf } from './connection-words.js';
import { useLoaded } from './loaded.js';
import { OperationEnd } from './operation-end.js';
import { OperationInput } from './operation-input.js';
import { OperationPicture } from './operation-picture.js';
import { isOver } from './operation-words.js';
import { StatusBadge } from './operations.js';
import { may, type PageProps } from './page-props.js';
import { Action, Empty, Facts, Id, Problem, Time, Title } from './parts.js';
import { hrefOf } from './place.js';

/** One operation: how it stands and what to do about it, how it went, what went in and what came out. */
export function Operation(props: PageProps) {
  const { api, session, id = '', live } = props;
  const load = () => api.get<OperationJson>(`/v1/operations/${id}`);
  const { value: operation, error, again } = useLoaded(load, [api, id], live, 'operations');
  if (!operation) {
    return (
      <>
        <Title text="Operation" />
        {error ? <Problem error={error} again={again} /> : <Empty text="Loading" />}
      </>
    );
  }
  const cancel = async () => {
    await api.send('POST', `/v1/operations/${id}/cancel`);
    again();
  };
  const { status, cancel_requested } = operation;
  return (
    <>
      <Title text={operation.capability}>
        <StatusBadge status={status} />
        <Id id={operation.id} />
      </Title>
      <Problem error={error} again={again} />
      {operation.challenge && (
        <ChallengeCard {...{ api, session }} operation={id} challenge={operation.challenge} answered={again} />
      )}
      {!isOver(status) && !cancel_requested && may(session, 'operations:write') && (
        <div class="actions">
          <Action
            label="Cancel the operation"
            confirm="It ends, unless a write has left already: nothing is undone at the provider."
            run={cancel}
          />
        </div>
      )}
      <OperationEnd props={props} operation={operation} changed={again} />
      <Facts
        rows={[
          ['Connection', <Account key="account" {...props} id={operation.connection_id} />],
          ['Submitted', <Time key="created" at={operation.created_at} />],
          ['Last changed', <Time key="updated" at={operation.updated_at} />],
          ['Cancel', cancel_requested && !isOver(status) ? 'Requested' : null],
        ]}
      />
      <OperationPicture operation={operation} />
      <OperationInput {...props} />
    </>
  );
}

/** By its name, where the session may read it. */
function Account({ api, session, id = '', live }: PageProps) {
  const readable = may(session, 'connections:read');
  const load = async () => (readable ? api.get<ConnectionJson>(`/v1/connections/${id}`) : undefined);
  const { value, error, again } = useLoaded(load, [api, id], live, null);
  if (!readable) return <Id id={id} />;
  return (
    <>
      <a href={hrefOf(`connections/${id}`)}>{value ? accountOf(value) : id.slice(-8)}</a>
      <Problem error={error} again={again} />
    </>
  );
}
