import type { EvidenceJson } from '../../../routes/evidence-json.js';
import type { FailedOperationJson, OperationJson } from '../../../routes/operation-json.js';
import { Json } from './operation-input.js';
import { FAULTS, failureWords, SENT, SKIPS } from './operation-words.js';
import { may, type PageProps } from './page-props.js';
import { Action, Empty, Facts, Time } from './parts.js';

interface EndProps {
  props: PageProps;
  operation: OperationJson;
  changed: () => void;
}

/** How an operation ended: its result, its error and what to do, or what is known of a write whose outcome is not. */
export function OperationEnd({ props, operation, changed }: EndProps) {
  switch (operation.status) {
    case 'succeeded':
      return (
        <>
          <h2>Result</h2>
          {operation.result === null ? (
            <p class="quiet">It was erased by its age, as the installation is set to.</p>
          ) : (
            <Json value={operation.result} label="Result" />
          )}
        </>
      );
    case 'skipped':
      return <p>Nothing was left to do. {SKIPS[operation.result.reason] ?? operation.result.reason}</p>;
    case 'failed':
      return <Failure {...operation} />;
    case 'outcome_unknown':
      return <Evidence {...{ props, changed }} id={operation.id} evidence={operation.evidence} />;
    case 'queued':
    case 'running':
    case 'waiting_user':
    case 'canceled':
      return null;
    default:
      return operation satisfies never;
  }
}

function Failure({ error_code, error_details }: FailedOperationJson) {
  const { what, todo } = failureWords(error_code);
  const { retryable, ...details } = error_details;
  return (
    <section class="card failure" aria-label="Error">
      <p>
        <strong>{what}</strong> {todo}
      </p>
      <p class="quiet">
        <code>{error_code}</code>
        {retryable ? ', may work when it is submitted again' : ', will not work when the same is submitted again'}
      </p>
      {Object.keys(details).length > 0 && <Json value={details} label="Details" />}
    </section>
  );
}

interface EvidenceProps {
  props: PageProps;
  id: string;
  evidence: EvidenceJson;
  changed: () => void;
}

function Evidence({ props: { api, session }, id, evidence, changed }: EvidenceProps) {
  const { boundary_at, request, answer, fault, worker, look } = evidence;
  const reconcile = async () => {
    await api.send('POST', `/v1/operations/${id}/reconcile`);
    changed();
  };
  return (
    <section class="card unknown" aria-label="Evidence">
      <p>
        <strong>The write may have happened, and nobody can prove it.</strong> Look at the place where it would show
        before the same is sent again.
      </p>
      <Facts
        rows={[
          ['Let go', <Time key="boundary" at={boundary_at} />],
          ['Request', SENT[request.sent]],
          ['Answer', answer ? `HTTP ${answer.status}` : 'None came'],
          ['Ended by', fault && FAULTS[fault]],
          ['Node', worker.node_id && <code>{`${worker.node_id.slice(-8)} ${worker.thread ?? ''}`}</code>],
        ]}
      />
      {may(session, 'operations:write') && <Action label="Look" main run={reconcile} />}
      {look ? <Look look={look} /> : <Empty text="Nobody has looked yet." />}
    </section>
  );
}

const FOUND = {
  none: 'Nothing stands there that would be it.',
  one: 'One thing stands there that may be it.',
  several: 'Several things stand there that may be it.',
} as const;

function Look({ look }: { look: NonNullable<EvidenceJson['look']> }) {
  const { at, found, reason, matches } = look;
  const words = found ? FOUND[found] : reason === 'too_many_newer' ? TOO_MANY : failureWords(reason ?? '').what;
  return (
    <div role="status">
      <p>
        <strong>{words}</strong> Looked <Time at={at} />.
      </p>
      {matches.length > 0 && <Json value={matches} label="What stands there" />}
    </div>
  );
}

const TOO_MANY = 'It cannot be told: more was written since than a look reads.';
