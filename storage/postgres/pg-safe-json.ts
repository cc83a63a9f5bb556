/**
 * JSON text that jsonb takes, of values from outside. Texts of a provider may hold U+0000 or half of a surrogate
 * pair, which PostgreSQL refuses: each becomes U+FFFD.
 */
export function pgSafeJson(value: object): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u')) return text;
  // An escaped backslash is matched as a pair, so that the characters after it are not taken for an escape.
  return text.replace(/\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g, (found) => (found === '\\\\' ? found : '\ufffd'));
}
