import type { AttemptJson, TransitionJson } from '../../../../routes/operations/operation-parts.js';
import { Badge, Time } from '../kit/parts.js';
import { lasting } from '../kit/times.js';
import { ATTEMPTS, isOver, PHASES, STATUSES, spoken } from '../words/operation-words.js';

/** Each change of status, with what led to it. */
export function Steps({ timeline }: { timeline: readonly TransitionJson[] }) {
  return (
    <table>
      <caption>Changes of status</caption>
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Because</th>
          <th scope="col">When</th>
          <th scope="col">Lasted</th>
        </tr>
      </thead>
      <tbody>
        {timeline.map(({ to, reason, at }, i) => {
          const next = timeline[i + 1];
          const [tone, text] = STATUSES[to];
          return (
            <tr key={`${at} ${to} ${i}`}>
              <td data-title="Status">
                <Badge {...{ tone, text }} />
              </td>
              <td data-title="Because">{spoken(reason)}</td>
              <td data-title="When">
                <Time at={at} />
              </td>
              <td data-title="Lasted">
                {next ? lasting(Date.parse(next.at) - Date.parse(at)) : isOver(to) ? '' : 'until now'}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Each try, with how far it came. */
export function Attempts({ attempts }: { attempts: readonly AttemptJson[] }) {
  return (
    <table>
      <caption>Attempts</caption>
      <thead>
        <tr>
          <th scope="col">Attempt</th>
          <th scope="col">State</th>
          <th scope="col">Phase</th>
          <th scope="col">Sent</th>
          <th scope="col">Lasted</th>
        </tr>
      </thead>
      <tbody>
        {attempts.map(({ id, number, status, phase, boundary_at, started_at, completed_at }) => {
          const [tone, text] = ATTEMPTS[status];
          return (
            <tr key={id}>
              <td data-title="Attempt">{number}</td>
              <td data-title="State">
                <Badge {...{ tone, text }} />
              </td>
              <td data-title="Phase">{PHASES[phase]}</td>
              <td data-title="Sent">
                {boundary_at ? `after ${lasting(Date.parse(boundary_at) - Date.parse(started_at))}` : 'not sent'}
              </td>
              <td data-title="Lasted">
                {completed_at ? lasting(Date.parse(completed_at) - Date.parse(started_at)) : 'until now'}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
