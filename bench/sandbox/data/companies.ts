import { LIMITS } from '../limits.js';
import { SeededRandom } from './seeded-random.js';
import { COMPANY_STEMS, COMPANY_TAILS, INDUSTRIES, LOCATIONS } from './words.js';

export interface Company {
  companyId: string;
  publicId: string;
  name: string;
  /** Places in `INDUSTRIES` and `LOCATIONS`. */
  industry: number;
  location: number;
}

/** `LIMITS.companies` companies with distinct names, the same for the same seed. */
export function makeCompanies(seed: string): Company[] {
  const random = new SeededRandom(seed, 'companies');
  const names = new Set<string>();
  while (names.size < LIMITS.companies) names.add(`${random.pick(COMPANY_STEMS)} ${random.pick(COMPANY_TAILS)}`);
  return [...names].map((name, index) => ({
    companyId: String(20_000 + index * 3),
    publicId: name.toLowerCase().replaceAll(' ', '-'),
    name,
    industry: random.between(0, INDUSTRIES.length - 1),
    location: random.between(0, LOCATIONS.length - 1),
  }));
}
