import { PATHS } from './words.js';

/** Words of the guild by those of the network, or the other way. */
export type Words = ReadonlyMap<string, string>;

/** The network's words by the guild's. */
export function inverse(words: Words): Words {
  return new Map([...words].map(([own, guild]) => [guild, own]));
}

/** The guild's word for one of the network's. Throws Error for one without. */
export function word(words: Words, own: string): string {
  const guild = words.get(own);
  if (guild === undefined) throw new Error(`the guild has no word for ${own}`);
  return guild;
}

/** A path by the pairs of PATHS, from the network's side (0) or the guild's (1) to the other; undefined for one that is not there. */
export function moved(path: string, from: 0 | 1): string | undefined {
  for (const pair of PATHS) {
    const parts = new RegExp(`^${pair[from].replace(':id', '([^/]+)')}$`).exec(path);
    // `/rpc/requests/outgoing` is no request of its own: exact paths come before those with a part in them.
    if (parts !== null && (parts[1] === undefined || !PATHS.some((other) => other[from] === path))) {
      return pair[from === 0 ? 1 : 0].replace(':id', () => parts[1] ?? '');
    }
  }
  return undefined;
}
