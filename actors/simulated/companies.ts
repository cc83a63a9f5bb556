import type { Company } from '../../browser-pool/contract/identity.js';
import { between, mix, pick, seedOf } from './seeded-random.js';
import { COMPANIES, COMPANY_INDUSTRY, ID_BASE, INDUSTRIES, LOCATIONS } from './vocabulary.js';

/** Letter codes of company sizes with their upper bounds (contract: `company_sizes`). */
const SIZES = [
  ['A', 1, 'self-employed'],
  ['B', 10, '1-10'],
  ['C', 50, '11-50'],
  ['D', 200, '51-200'],
  ['E', 500, '201-500'],
  ['F', 1000, '501-1000'],
  ['G', 5000, '1001-5000'],
  ['H', 10_000, '5001-10000'],
  ['I', Number.POSITIVE_INFINITY, '10000+'],
] as const;

const slugOf = (name: string) =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'company';

const bySlug = new Map(COMPANIES.map((name, place) => [slugOf(name), place]));

/** The company of a slug, a numeric id or a name. There is one for every question; twenty of them employ the members. */
export function companyFor(input: { public_id?: string; company_id?: string; company_name?: string }): Company {
  if (input.company_id !== undefined) {
    const place = Number(input.company_id) - ID_BASE.company;
    const known = COMPANIES[place];
    return known === undefined
      ? describe(`company-${input.company_id}`, `Company ${input.company_id}`, input.company_id)
      : describe(slugOf(known), known, input.company_id);
  }
  const slug = input.public_id ?? slugOf(input.company_name ?? '');
  const place = bySlug.get(slug);
  const name = place === undefined ? (input.company_name ?? nameOf(slug)) : (COMPANIES[place] as string);
  return describe(slug, name, String(place === undefined ? 1_000_000 + seedOf(slug) : ID_BASE.company + place));
}

/** Employees of a company by name. */
export function employeesOf(name: string): number {
  const seed = seedOf(slugOf(name));
  return 2 ** between(0, 14, seed, 1) + (mix(seed, 2) % 7);
}

/** Letter code of a company's size. */
export function sizeCodeOf(name: string): string {
  return sizeOf(employeesOf(name))[0];
}

function sizeOf(employees: number) {
  return SIZES.find(([, upTo]) => employees <= upTo) ?? SIZES[8];
}

function describe(slug: string, name: string, id: string): Company {
  const seed = seedOf(slug);
  const place = bySlug.get(slug);
  const industry =
    place === undefined ? pick(INDUSTRIES, seed, 3) : (INDUSTRIES[COMPANY_INDUSTRY[place] ?? 0] as string);
  const employees = employeesOf(name);
  const headquarter = pick(LOCATIONS, seed, 4);
  return {
    public_id: slug,
    company_id: id,
    name,
    tagline: `${industry} that works`,
    description: `${name} is a company in ${industry.toLowerCase()} with its seat in ${headquarter}.`,
    url: `https://www.social.test/company/${slug}`,
    website: `https://${slug.replaceAll(/[^a-z0-9]+/gi, '-')}.example`,
    employee_count: employees,
    employee_count_range: sizeOf(employees)[2],
    founded_year: between(1900, 2022, seed, 5),
    industries: [industry],
    industry,
    specialties: [pick(INDUSTRIES, seed, 6)],
    headquarter,
    locations: [...new Set([headquarter, pick(LOCATIONS, seed, 7)])],
    logo_url: `https://files.social.test/logos/${slug}.png`,
  };
}

function nameOf(slug: string): string {
  const parts = slug.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join(' ') || slug;
}
