import { useState } from 'preact/hooks';
import type { OperationJson } from '../../../../routes/operations/operation-json.js';
import { useLoaded } from '../kit/loaded.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Action, Empty, Facts, Id, Problem, Time, Title } from '../kit/parts.js';
import { Account } from '../words/accounts.js';
import { isOver } from '../words/operation-words.js';
import { ChallengeCard } from './challenge.js';
import { OperationEnd } from './operation-end.js';
import { OperationInput } from './operation-input.js';
import { OperationPicture } from './operation-picture.js';
import { StatusBadge } from './operations.js';

/** One operation: how it stands and what to do about it, how it went, what went in and what came out. */
export function Operation(props: PageProps) {
  const { api, session, id = '', live } = props;
  const [over, setOver] = useState(false);
  const load = async () => {
    const loaded = await api.get<OperationJson>(`/v1/operations/${id}`);
    setOver(isOver(loaded.status));
    return loaded;
  };
  // One that has ended stays as it is, and its result may be a file: only what somebody does here loads it again.
  const { value: operation, error, again } = useLoaded(load, [api, id], live, over ? null : 'operations');
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
      <ChallengeCard {...{ api, session }} operation={id} challenge={operation.challenge} answered={again} />
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
          ['Connection', <Account key="account" {...{ api, session }} id={operation.connection_id} />],
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
