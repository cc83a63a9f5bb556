const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A time span as a person reads it, to two units: `2 h 5 min`; below a second `0 s`. */
export function durationInWords(ms: number): string {
  let rest = Math.max(0, Math.round(ms / 1000));
  const first = UNITS.findIndex(([, seconds]) => rest >= seconds);
  const parts = UNITS.slice(first, first + 2).map(([unit, seconds]) => {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    return [count, unit] as const;
  });
  const words = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return first < 0 ? '0 s' : words.join(' ');
}

/** How long ago it was, by this machine's clock; null of what has not been. */
export function ageInWords(time: Date | null): string | null {
  return time && durationInWords(Date.now() - time.getTime());
}
