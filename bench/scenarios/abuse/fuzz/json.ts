/** What is done to one place of a JSON value. */
export interface Edit {
  /** Which place, in the order in which they are written; past the last one it goes on from the first. */
  place: number;
  kind: 'replace' | 'drop' | 'twice';
  /** The JSON text to put there, which need not be JSON. */
  json: string;
}

/** The value as JSON with one place of it edited: also what no value could be written as, such as a key that stands twice. */
export function written(value: unknown, edit: Edit): string {
  const target = edit.place % placesOf(value);
  let place = 0;
  const write = (one: unknown): string => {
    if (place++ === target && edit.kind === 'replace') {
      place += placesOf(one) - 1;
      return edit.json;
    }
    if (Array.isArray(one)) return `[${one.flatMap((item) => writeIn(item, (json) => json)).join()}]`;
    if (typeof one !== 'object' || one === null) return JSON.stringify(one);
    const entries = Object.entries(one).flatMap(([key, item]) =>
      writeIn(item, (json) => `${JSON.stringify(key)}:${json}`),
    );
    return `{${entries.join()}}`;
  };
  const writeIn = (item: unknown, within: (json: string) => string): string[] => {
    const isTarget = place === target;
    const json = within(write(item));
    if (!isTarget || edit.kind === 'replace') return [json];
    return edit.kind === 'drop' ? [] : [json, within(edit.json)];
  };
  return write(value);
}

/** Values in it, with itself. */
function placesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, item) => sum + placesOf(item), 1);
}
