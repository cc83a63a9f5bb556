import { readdirSync, readFileSync } from 'node:fs';
import { LIMITS } from './limits.js';

/** What of this process takes descriptors besides HTTP connections, and is not open yet. */
export interface Expected {
  /** Sockets to receivers of callbacks. */
  deliveries: number;
}

/**
 * How many HTTP connections leave the rest of this process its descriptors: those that are open now, and those it still opens.
 * A process without descriptors accepts nothing, and is woken for what it cannot accept again and again.
 */
export function httpConnections({ deliveries }: Expected): number {
  const limit = descriptorLimit();
  if (limit === undefined) return LIMITS.http_connections_unknown;
  const spare = limit - openDescriptors() - deliveries - LIMITS.spare_descriptors;
  return Math.min(LIMITS.http_connections, Math.max(LIMITS.http_connections_least, spare));
}

/** Undefined on a system that does not tell. */
function descriptorLimit(): number | undefined {
  const soft = /^Max open files\s+(\d+)/m.exec(contents('/proc/self/limits'))?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function contents(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
