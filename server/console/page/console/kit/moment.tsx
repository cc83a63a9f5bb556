import { filterBy } from './list.js';

interface MomentProps {
  query: URLSearchParams;
  name: string;
  label: string;
}

/** A moment, kept in the fragment; taken with Enter or when one goes on, as each key of a time that is entered gives another time. */
export function Moment({ query, name, label }: MomentProps) {
  const chosen = query.get(name);
  const take = (text: string) => {
    if (text !== localOf(chosen)) filterBy(name, text === '' ? '' : new Date(text).toISOString());
  };
  return (
    <label class="filter">
      {label}
      <input
        key={chosen}
        name={name}
        type="datetime-local"
        defaultValue={localOf(chosen)}
        onBlur={(event) => take(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && take(event.currentTarget.value)}
      />
    </label>
  );
}

/** As the field has it: to the minute, at the place of the browser. */
function localOf(iso: string | null): string {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
