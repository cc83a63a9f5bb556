import type { Route } from './route.js';

/** The routes of a path by method, and its parameters: decoded, or as sent when they cannot be decoded. */
export interface Match {
  routes: ReadonlyMap<string, Route>;
  params: Record<string, string>;
}

interface Node {
  fixed: Map<string, Node>;
  parameter?: { name: string; node: Node };
  routes?: Map<string, Route>;
}

/** Finds the routes of a path in one walk over its segments. A trailing or doubled slash matches nothing (HTTP-9). */
export function router(table: readonly Route[]): (path: string) => Match | undefined {
  const root: Node = { fixed: new Map() };
  for (const route of table) {
    let node = root;
    for (const segment of segmentsOf(route.path)) node = childOf(node, segment);
    node.routes ??= new Map();
    if (node.routes.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
    node.routes.set(route.method, route);
  }
  return (path) => {
    const params: Record<string, string> = {};
    let node: Node | undefined = root;
    for (const segment of segmentsOf(path)) {
      const fixed: Node | undefined = node.fixed.get(segment);
      if (!fixed && node.parameter) {
        if (segment === '') return undefined;
        params[node.parameter.name] = decode(segment);
      }
      node = fixed ?? node.parameter?.node;
      if (!node) return undefined;
    }
    return node.routes && { routes: node.routes, params };
  };
}

function segmentsOf(path: string): string[] {
  return path.slice(1).split('/');
}

function childOf(node: Node, segment: string): Node {
  const name = /^\{(\w+)\}$/.exec(segment)?.[1];
  if (name) {
    node.parameter ??= { name, node: { fixed: new Map() } };
    return node.parameter.node;
  }
  const child = node.fixed.get(segment) ?? { fixed: new Map() };
  node.fixed.set(segment, child);
  return child;
}

/** Text that is not percent-encoded UTF-8 stays as it is: an id that no resource has (HTTP-8). */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
