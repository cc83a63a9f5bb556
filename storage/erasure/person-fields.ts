/** What of a stored value names people, by the types of what it holds. */
export interface PersonFields {
  input(capability: string, input: unknown): string[];
  result(capability: string, result: unknown): string[];
  /** Of an event's data. */
  event(data: unknown): string[];
}

/**
 * Whether one of these names is the person's: the same text in whatever case, or an address, plain or percent-encoded, whose last segment is.
 */
export function isNamed(person: string): (names: readonly string[]) => boolean {
  const wanted = person.toLowerCase();
  const same = (name: string) => name.toLowerCase() === wanted || lastSegment(name)?.toLowerCase() === wanted;
  return (names) => names.some(same);
}

/** Of an address such as `https://www.social.test/in/ada-l/`. */
function lastSegment(name: string): string | undefined {
  if (!/^https?:\/\//i.test(name) || !URL.canParse(name)) return undefined;
  const segment = new URL(name).pathname.split('/').findLast((one) => one !== '');
  try {
    return segment && decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
