import type { ConnectionJson } from '../../../../routes/connections/connection-json.js';
import type { OperationsJson } from '../../../../routes/operations/operations.js';
import { useLoaded } from '../kit/loaded.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Badge, Empty, Facts, Id, Problem, Time, Title } from '../kit/parts.js';
import { ChallengeCard } from '../operations/challenge.js';
import { OperationList } from '../operations/operations.js';
import { accountOf, PROVIDERS, RECRUITER, reasonWords } from '../words/connection-words.js';
import { ConnectionActions } from './connection-actions.js';
import { HealthBadge } from './connections.js';
import { Listener } from './listener.js';

/** One connection: how it stands, what can be done, what it listens to, and what it did last. */
export function Connection(props: PageProps) {
  const { api, session, id = '', live } = props;
  const load = () => api.get<ConnectionJson>(`/v1/connections/${id}`);
  const { value: connection, error, again } = useLoaded(load, [api, id], live, 'connections');
  if (!connection) {
    return (
      <>
        <Title text="Connection" />
        {error ? <Problem error={error} again={again} /> : <Empty text="Loading" />}
      </>
    );
  }
  return (
    <>
      <Title text={accountOf(connection)}>
        <HealthBadge health={connection.health} />
        <Id id={connection.id} />
      </Title>
      <Problem error={error} again={again} />
      {may(session, 'operations:read') && <WaitsFor {...props} />}
      <ConnectionActions props={props} connection={connection} changed={again} />
      <About connection={connection} />
      {may(session, 'events:read') && <Listener {...props} connection={connection} />}
      {may(session, 'operations:read') && (
        <>
          <h2>Last operations</h2>
          <OperationList {...props} fixed={{ connection_id: connection.id }} />
        </>
      )}
    </>
  );
}

/** The operation that waits for its user: a connection has one at most. */
function WaitsFor({ api, session, id = '', live }: PageProps) {
  const load = () =>
    api.get<OperationsJson>(`/v1/operations?connection_id=${id}&status=waiting_user&limit=1&results=false`);
  const { value, error, again } = useLoaded(load, [api, id], live, 'operations');
  const [waiting] = value?.operations ?? [];
  return (
    <>
      {!waiting && <Problem error={error} again={again} />}
      <ChallengeCard {...{ api, session }} operation={waiting?.id} challenge={waiting?.challenge} answered={again} />
    </>
  );
}

function About({ connection }: { connection: ConnectionJson }) {
  const { health_reason, health_since, recruiter, session_proxy, region, external_actor, labels } = connection;
  return (
    <>
      <Facts
        rows={[
          ['Because', health_reason && reasonWords(health_reason)],
          ['Since', health_since && <Time at={health_since} />],
          ['Kind', `${PROVIDERS[connection.provider]}, ${external_actor.kind}`],
          ['Created', <Time key="created" at={connection.created_at} />],
          ['Username', connection.account_hint],
          ['Your reference', connection.reference],
          ['Labels', labels.length > 0 ? labels.join(', ') : null],
          ['Account at the provider', external_actor.id ? <code>{external_actor.id}</code> : 'Not signed in yet'],
          ['Session', `Generation ${connection.state_revision}`],
          [
            'Region',
            region && `${region}, ${connection.regional_proxy_configured ? 'with a proxy' : 'without a proxy'}`,
          ],
          ['Proxy of the session', session_proxy && <SessionProxy {...session_proxy} />],
        ]}
      />
      {recruiter && (
        <>
          <h2>Recruiter</h2>
          <Facts
            rows={[
              [
                'State',
                <Badge key="state" tone={RECRUITER[recruiter.health][0]} text={RECRUITER[recruiter.health][1]} />,
              ],
              ['Because', recruiter.reason && reasonWords(recruiter.reason)],
              ['Contract', recruiter.contract],
              ['Verified', recruiter.verified_at && <Time at={recruiter.verified_at} />],
            ]}
          />
        </>
      )}
    </>
  );
}

function SessionProxy({ id, region, active, matches_region }: NonNullable<ConnectionJson['session_proxy']>) {
  const state = active ? (matches_region ? '' : ', of another region') : ', not offered any more';
  return (
    <>
      {region}
      {state} <Id id={id} />
    </>
  );
}
