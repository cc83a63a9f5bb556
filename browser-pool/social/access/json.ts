import { LIMITS } from '../../limits.js';

/** What a text of the site holds as JSON; undefined when it is none, or nested too deeply to be walked. */
export function parsedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isWithin(value, LIMITS.answer_depth) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((one) => isWithin(one, depth - 1));
}
