const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' });
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

export const exactly = (iso: string): string => EXACT.format(new Date(iso));

export const onDay = (iso: string): string => DAY.format(new Date(iso));

/** How long ago, or until then, in its largest unit. */
export function ago(iso: string, now = Date.now()): string {
  const away_ms = Date.parse(iso) - now;
  const [unit, unit_ms] = UNITS.find(([, ms]) => Math.abs(away_ms) >= ms) ?? ['second', 1000];
  return RELATIVE.format(Math.trunc(away_ms / unit_ms), unit);
}

/** A length of time, such as `1.3 s` or `2 min 5 s`. */
export function lasting(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(1)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}
