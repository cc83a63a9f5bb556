import { InvalidArgumentError } from 'commander';
import type { Kind } from '../load/messages.js';

const KINDS: readonly string[] = ['submit', 'poll', 'list'] satisfies Kind[];

/** `submit:1,poll:3` as the requests of one turn, each kind spread evenly over it. Throws InvalidArgumentError on anything else. */
export function kindsOf(mix: string): Kind[] {
  const parts = mix.split(',').map((part) => {
    const [, kind = '', weight] = /^(\w+):([1-9]\d?)$/.exec(part) ?? [];
    if (!KINDS.includes(kind))
      throw new InvalidArgumentError(`--mix ${mix}: it wants parts like submit:1, of ${KINDS.join(', ')}`);
    return { kind: kind as Kind, weight: Number(weight) };
  });
  const placed = parts.flatMap(({ kind, weight }) =>
    Array.from({ length: weight }, (_, place) => ({ kind, at: (place + 0.5) / weight })),
  );
  return placed.toSorted((a, b) => a.at - b.at).map(({ kind }) => kind);
}
