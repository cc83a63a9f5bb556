/**
 * JSON text that jsonb takes, of values that others wrote. Texts of a provider may hold U+0000 or half of a surrogate
 * pair, which PostgreSQL refuses however often it is asked: each becomes U+FFFD.
 */
export function pgSafeJson(value: object): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u')) return text;
  // An escaped backslash is passed over as a pair, so that what stands behind it is not taken for an escape.
  return text.replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (found) => (found === '\\\\' ? found : '\ufffd'));
}
