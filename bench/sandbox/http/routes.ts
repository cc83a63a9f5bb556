import type { Route } from './exchange.js';

/** The routes of one host. Paths without parameters are looked up, the few others are tried in order. */
export class Routes {
  readonly #exact = new Map<string, Route[]>();
  readonly #patterns: { pattern: RegExp; route: Route }[] = [];

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      if (route.path.includes(':')) {
        const source = route.path.replace(/::[a-z]+/gi, '(.+)').replace(/:[a-z]+/gi, '([^/]+)');
        const pattern = new RegExp(`^${source}$`);
        this.#patterns.push({ pattern, route });
      } else {
        this.#exact.set(route.path, [...(this.#exact.get(route.path) ?? []), route]);
      }
    }
  }

  /** The route of a request, or the methods its path would take. */
  find(method: string, path: string): { route: Route; params: string[] } | { methods: readonly string[] } {
    const exact = this.#exact.get(path) ?? [];
    const candidates = exact.map((route) => ({ route, params: [] as string[] }));
    if (exact.length === 0) {
      for (const { pattern, route } of this.#patterns) {
        const match = pattern.exec(path);
        if (match !== null) candidates.push({ route, params: match.slice(1).map(decoded) });
      }
    }
    const found = candidates.find(({ route }) => route.method === method);
    return found ?? { methods: candidates.map(({ route }) => route.method) };
  }
}

/** A segment that does not decode names nothing. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
