/** The lowest UUIDv7 of a millisecond. */
export function firstIdAt(time_ms: number): string {
  const hex = Math.min(time_ms, 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** When a UUIDv7 was made, in milliseconds since 1970: of an operation, when it was accepted. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
