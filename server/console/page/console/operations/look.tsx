import { useEffect, useState } from 'preact/hooks';
import type { ConnectionJson } from '../../../../routes/connections/connection-json.js';
import type { EvidenceJson } from '../../../../routes/operations/evidence-json.js';
import type { UnknownOperationJson } from '../../../../routes/operations/operation-json.js';
import { Json } from '../kit/json.js';
import { may, type PageProps } from '../kit/page-props.js';
import { Action, Empty, Time } from '../kit/parts.js';
import { Account } from '../words/accounts.js';
import { failureWords } from '../words/operation-words.js';

interface LookProps {
  props: PageProps;
  operation: UnknownOperationJson;
  /** The operation is another than it was. */
  changed: () => void;
}

/**
 * Why a look that was asked for is not there: without a word an earlier one, or none, would be taken for what it found, and the write be
 * sent again. `waiting`: the connection is ready, or nobody may know, so that it may come still; `given up`: it did not, for `WAITS` times.
 */
type Missing = 'not ready' | 'waiting' | 'given up';

/** How often, and how many times, a look that takes long is asked after. */
const AGAIN_ms = 3000;
const WAITS = 40;

/** What stands where the write would show: looked at on request, and told whatever comes of it. */
export function Look({ props: { api, session }, operation, changed }: LookProps) {
  const { id, connection_id, evidence } = operation;
  const [missing, miss] = useState<{ why: Missing; before: string | undefined } | null>(null);
  const awaited = missing !== null && missing.before === evidence.look?.at ? missing.why : null;
  useEffect(() => {
    if (awaited !== 'waiting') return;
    let left = WAITS;
    const timer = setInterval(() => {
      if (left-- > 0) changed();
      else miss((was) => was && { ...was, why: 'given up' });
    }, AGAIN_ms);
    return () => clearInterval(timer);
  }, [awaited]);
  const look = async () => {
    const before = evidence.look?.at;
    miss(null);
    const answer = await api.send<UnknownOperationJson>('POST', `/v1/operations/${id}/reconcile`);
    if (answer.evidence.look?.at === before) {
      const path = `/v1/connections/${connection_id}`;
      const connection = may(session, 'connections:read')
        ? await api.get<ConnectionJson>(path).catch(() => null)
        : null;
      miss({ why: connection && connection.health !== 'ready' ? 'not ready' : 'waiting', before });
    }
    changed();
  };
  return (
    <>
      {may(session, 'operations:write') && <Action label="Check the provider" main run={look} />}
      <div role="status">
        {awaited === 'not ready' && (
          <p>
            <strong>Nothing was checked: the connection is not ready.</strong>{' '}
            <Account {...{ api, session }} id={connection_id} /> has to log in first; then check again.
          </p>
        )}
        {awaited === 'waiting' && (
          <p>
            <strong>The check has not ended yet.</strong>{' '}
            {may(session, 'connections:read')
              ? 'What it finds shows here.'
              : 'What it finds shows here. Nothing is checked while the connection is not ready.'}
          </p>
        )}
        {awaited === 'given up' && (
          <p>
            <strong>No check has ended in two minutes.</strong> Nothing is known by it. See whether the connection is
            ready, and check again.
          </p>
        )}
        {evidence.look && <Found look={evidence.look} earlier={awaited !== null} />}
      </div>
      {!evidence.look && awaited === null && <Empty text="The provider has not been checked yet." />}
    </>
  );
}

const FOUND = {
  none: 'Not found at the provider.',
  one: 'One match was found at the provider.',
  several: 'Several possible matches were found at the provider.',
} as const;

function Found({ look, earlier }: { look: NonNullable<EvidenceJson['look']>; earlier: boolean }) {
  const { at, found, reason, matches } = look;
  const words = found ? FOUND[found] : reason === 'too_many_newer' ? TOO_MANY : failureWords(reason ?? '').what;
  return (
    <>
      <p>
        {earlier && 'An earlier check: '}
        <strong>{words}</strong> Checked <Time at={at} />.
      </p>
      {matches.length > 0 && <Json value={matches} label="Found at the provider" />}
    </>
  );
}

const TOO_MANY = 'It cannot be told: more was written since than a check reads.';
