import { CHECKS, type Level, type Wanted } from './checks.js';
import { readFacts } from './facts.js';

/** What one check found. */
export interface Finding {
  check: string;
  level: Level;
  found: string;
  /** What it means, and what to do; null where all is well. */
  means: string | null;
  action: string | null;
}

/**
 * Looks at the server of an address, its database and its role by every check (STO-9). Throws what the driver throws when it does not answer.
 */
export async function inspectServer(url: string, wanted: Wanted = {}): Promise<Finding[]> {
  const facts = await readFacts(url);
  return CHECKS.map(({ name, means, action, judge }) => {
    const { level, found } = judge(facts, wanted);
    return { check: name, level, found, ...(level === 'ok' ? { means: null, action: null } : { means, action }) };
  });
}

/** A finding as one line of a log or of a refused start. */
export const findingLine = ({ found, action }: Finding): string => `${found}: ${action}`;
