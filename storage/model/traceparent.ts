/*
 * W3C Trace Context, version 00: `00-<trace id>-<parent span id>-<flags>`. A text that passed `parseTraceparent` is kept and passed on
 * as it is.
 */

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The valid header in the form of version 00; null for any other, which counts as absent. A later version may carry more behind it. */
export function parseTraceparent(header: string): string | null {
  if (header === '') return null;
  const [, version, traceId = '', parentId = '', flags = '', rest] = FORM.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return null;
  return version === '00' ? header : `00-${traceId}-${parentId}-${flags}`;
}

/** The trace that it names. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
