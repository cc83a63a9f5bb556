/** Reads quantiles (0 to 1) of the values; sorts them in place. 0 when there are none. */
export function quantileOf(values: number[]): (q: number) => number {
  values.sort((a, b) => a - b);
  return (q) => values[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0;
}
