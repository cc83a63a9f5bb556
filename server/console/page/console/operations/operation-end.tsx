import type {
  FailedOperationJson,
  OperationJson,
  UnknownOperationJson,
} from '../../../../routes/operations/operation-json.js';
import { Json } from '../kit/json.js';
import type { PageProps } from '../kit/page-props.js';
import { Facts, Time } from '../kit/parts.js';
import { FAULTS, failureWords, SENT, SKIPS } from '../words/operation-words.js';
import { Look } from './look.js';

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
            <Json value={operation.result} label="Result" file={operation.id} />
          )}
        </>
      );
    case 'skipped':
      return <p>Nothing was left to do. {SKIPS[operation.result.reason] ?? operation.result.reason}</p>;
    case 'failed':
      return <Failure {...operation} />;
    case 'outcome_unknown':
      return <Evidence {...{ props, operation, changed }} />;
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

function Evidence({ props, operation, changed }: EndProps & { operation: UnknownOperationJson }) {
  const { boundary_at, request, answer, fault, worker } = operation.evidence;
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
      <Look {...{ props, operation, changed }} />
    </section>
  );
}
