/** No list that an input may hold is longer, and no object has more fields. */
const ENTRIES = 100;
/** No input is nested deeper. */
const DEPTH = 8;

/**
 * Validates a value from outside, at a cost that its size does not decide: of longer lists and objects only the beginning is examined
 * for what is wrong there. A finding takes ten times as long as a value that is right, and a body may hold a hundred thousand.
 */
export function validated<Validation extends { success: boolean }>(
  validate: (value: unknown) => Validation,
  value: unknown,
): Validation {
  if (isWithin(value, DEPTH)) return validate(value);
  const found = validate(beginningOf(value, DEPTH));
  return found.success ? validate(value) : found;
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth === 0) return true;
  if (Array.isArray(value)) return value.length <= ENTRIES && value.every((one) => isWithin(one, depth - 1));
  let entries = 0;
  for (const key in value) {
    if (++entries > ENTRIES || !isWithin((value as Record<string, unknown>)[key], depth - 1)) return false;
  }
  return true;
}

/** The value with one entry more than may be in each list and object. */
function beginningOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  const from = value as Record<string, unknown>;
  const beginning = Object.keys(value)
    .slice(0, ENTRIES + 1)
    .map((key) => [key, beginningOf(from[key], depth - 1)] as const);
  return Array.isArray(value) ? beginning.map(([, one]) => one) : Object.fromEntries(beginning);
}
