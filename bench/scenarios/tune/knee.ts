import type { Spread } from '../../kit/spread.js';

/** What one setting of a variable gave. */
export interface Tried {
  setting: number;
  rate: Spread;
}

/** A setting this close to the best is as good: what is more only takes memory and connections. */
const CLOSE = 0.95;

/** The smallest setting that is within 5 % of the best. Throws when nothing was tried. */
export function kneeOf(tried: Tried[]): Tried {
  const best = Math.max(...tried.map(({ rate }) => rate.median));
  const close = tried.filter(({ rate }) => rate.median >= best * CLOSE);
  const [knee] = close.toSorted((a, b) => a.setting - b.setting);
  if (!knee) throw new Error('nothing was tried');
  return knee;
}
