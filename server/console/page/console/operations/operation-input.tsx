import type { SubmittedInputJson } from '../../../../routes/operations/operation-input.js';
import { Json } from '../kit/json.js';
import { useLoaded } from '../kit/loaded.js';
import type { PageProps } from '../kit/page-props.js';
import { Empty, Problem } from '../kit/parts.js';

/** What the operation was submitted with; of what is never shown, the names. */
export function OperationInput({ api, id = '', live }: PageProps) {
  const load = () => api.get<SubmittedInputJson>(`/v1/operations/${id}/input`);
  const { value, error, again } = useLoaded(load, [api, id], live, null);
  return (
    <>
      <h2>Input</h2>
      <Problem error={error} again={again} />
      {value && Object.keys(value.input).length > 0 && <Json value={value.input} label="Input" />}
      {value && value.hidden.length > 0 && (
        <p class="quiet">
          Submitted, and never shown:{' '}
          {value.hidden.map((name) => (
            <code key={name}>{name} </code>
          ))}
        </p>
      )}
      {value && Object.keys(value.input).length + value.hidden.length === 0 && <Empty text="It takes no input." />}
    </>
  );
}
