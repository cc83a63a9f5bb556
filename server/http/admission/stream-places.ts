import type { UsableKey } from '../../../storage/workspaces/keys.js';

/** How many streams a node has. */
export interface StreamBounds {
  all: number;
  /** Of one workspace; of one operator as many. */
  each: number;
  /** Of all, those that only operators get. */
  operators: number;
}

interface Place {
  owner: string;
  operator: boolean;
  /** Ends its stream. */
  end: () => void;
}

/**
 * Who has the streams of a node: one workspace leaves room for the others, and all of them for operators. Where there is no room, the newest
 * stream of the workspace that has the most makes way for one that would still have fewer: so each has a place before another has two.
 */
export class StreamPlaces {
  readonly #bounds: StreamBounds;
  readonly #places = new Set<Place>();

  constructor(bounds: StreamBounds) {
    this.#bounds = bounds;
  }

  hasRoom(key: UsableKey): boolean {
    return (
      this.#ofOwner(ownerOf(key)).length < this.#bounds.each && (this.#isFree(key) || this.#spare(key) !== undefined)
    );
  }

  /** Takes a place; returns what gives it back, undefined where there is none. `end` is called when it is another's now. */
  take(key: UsableKey, end: () => void): (() => void) | undefined {
    if (!this.hasRoom(key)) return undefined;
    const spare = this.#isFree(key) ? undefined : this.#spare(key);
    if (spare) {
      this.#places.delete(spare);
      spare.end();
    }
    const place = { owner: ownerOf(key), operator: key.kind === 'operator', end };
    this.#places.add(place);
    return () => this.#places.delete(place);
  }

  #isFree({ kind }: UsableKey): boolean {
    const { all, operators } = this.#bounds;
    const taken = this.#places.size;
    const ofWorkspaces = [...this.#places].filter(({ operator }) => !operator).length;
    return taken < all && (kind === 'operator' || ofWorkspaces < all - operators);
  }

  /** The place that makes way for this key, if one does. */
  #spare(key: UsableKey): Place | undefined {
    if (key.kind === 'operator') return undefined;
    const own = this.#ofOwner(ownerOf(key)).length;
    const owners = Map.groupBy(
      [...this.#places].filter(({ operator }) => !operator),
      ({ owner }) => owner,
    );
    const most = [...owners.values()].reduce<Place[]>((one, other) => (other.length > one.length ? other : one), []);
    return most.length > own + 1 ? most.at(-1) : undefined;
  }

  #ofOwner(owner: string): Place[] {
    return [...this.#places].filter((place) => place.owner === owner);
  }
}

/** An operator's own, whichever workspace it looks at. */
const ownerOf = (key: UsableKey): string => (key.kind === 'operator' ? key.id : key.workspace_id);
