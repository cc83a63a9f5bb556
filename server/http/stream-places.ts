import type { UsableKey } from '../../storage/workspaces/keys.js';

/** How many streams a node has. */
export interface StreamBounds {
  all: number;
  /** Of one workspace; of one operator as many. */
  each: number;
  /** Of all, those that only operators get. */
  operators: number;
}

/** Who has the streams of a node: one workspace leaves room for the others, and all of them for operators. */
export class StreamPlaces {
  readonly #bounds: StreamBounds;
  readonly #of = new Map<string, number>();
  #all = 0;
  #operators = 0;

  constructor(bounds: StreamBounds) {
    this.#bounds = bounds;
  }

  hasRoom(key: UsableKey): boolean {
    const { all, each, operators } = this.#bounds;
    if ((this.#of.get(ownerOf(key)) ?? 0) >= each || this.#all >= all) return false;
    return key.kind === 'operator' || this.#all - this.#operators < all - operators;
  }

  /** Takes a place; returns what gives it back, undefined where there is none. */
  take(key: UsableKey): (() => void) | undefined {
    if (!this.hasRoom(key)) return undefined;
    this.#add(key, 1);
    return () => this.#add(key, -1);
  }

  #add(key: UsableKey, one: 1 | -1): void {
    const owner = ownerOf(key);
    const count = (this.#of.get(owner) ?? 0) + one;
    if (count > 0) this.#of.set(owner, count);
    else this.#of.delete(owner);
    this.#all += one;
    if (key.kind === 'operator') this.#operators += one;
  }
}

/** An operator's own, whichever workspace it looks at. */
const ownerOf = (key: UsableKey): string => (key.kind === 'operator' ? key.id : key.workspace_id);
