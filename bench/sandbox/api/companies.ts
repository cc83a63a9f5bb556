import { cityOf } from '../data/biography.js';
import type { Company } from '../data/companies.js';
import { SeededRandom } from '../data/seeded-random.js';
import { INDUSTRIES, LOCATIONS, SENTENCES, SKILLS } from '../data/words.js';
import { badRequest, html, json, notFound } from '../http/answer.js';
import type { Route } from '../http/exchange.js';
import { escaped, page } from '../http/markup.js';
import { ORIGIN } from '../limits.js';
import type { State } from '../state/state.js';

/** Companies, as JSON and as the page that links lead to. */
export function companyRoutes(state: State): Route[] {
  const capabilities = ['social.company.get'];
  const asked = (fits: (company: Company) => boolean): Company => {
    const company = state.directory.companies.find(fits);
    if (company === undefined) throw notFound('company');
    return company;
  };
  return [
    {
      method: 'GET',
      path: '/api/companies',
      access: 'api',
      capabilities,
      answer: (exchange) => {
        const query = exchange.query.only('publicId', 'companyId', 'name');
        const publicId = query.text('publicId', 255);
        const companyId = query.text('companyId', 20);
        const name = query.text('name', 255)?.toLowerCase() ?? null;
        if ([publicId, companyId, name].filter((given) => given !== null).length !== 1) {
          throw badRequest('Give exactly one of publicId, companyId and name.');
        }
        const company = asked(
          (other) => other.publicId === publicId || other.companyId === companyId || other.name.toLowerCase() === name,
        );
        return json({ data: companyView(company) });
      },
    },
    {
      method: 'GET',
      path: '/company/:id',
      access: 'page',
      capabilities,
      answer: (exchange) => html(200, companyPage(asked((other) => other.publicId === exchange.params[0]))),
    },
  ];
}

/** Lower ends of the classes that companies are counted in. */
const SIZE_CLASSES = [1, 11, 51, 201, 501, 1_001, 5_001, 10_001] as const;

/** The class of a number of employees; the largest has no end. */
function sizeClassOf(employees: number): { start: number; end: number | null } {
  const place = SIZE_CLASSES.findLastIndex((start) => employees >= start);
  const next = SIZE_CLASSES[place + 1];
  return { start: SIZE_CLASSES[place] ?? 1, end: next === undefined ? null : next - 1 };
}

/** How many people a company employs: few have many. */
export function employeesOf(company: Company): number {
  return Math.round(2 + 40_000 * new SeededRandom('employees', company.companyId).next() ** 5);
}

function companyView(company: Company): Record<string, unknown> {
  const random = new SeededRandom('company', company.companyId);
  const maybe = <T>(value: T): T | null => (random.chance(0.6) ? value : null);
  const employees = employeesOf(company);
  const headquarter = cityOf(LOCATIONS[company.location] ?? '');
  return {
    companyId: company.companyId,
    publicId: company.publicId,
    name: company.name,
    tagline: maybe(random.pick(SENTENCES)),
    description: maybe(`${company.name} works in ${INDUSTRIES[company.industry]}. ${random.pick(SENTENCES)}`),
    url: `${ORIGIN}/company/${company.publicId}`,
    websiteUrl: maybe(`https://${company.publicId}.test`),
    phone: maybe(`+44 20 5550 ${String(random.between(0, 9_999)).padStart(4, '0')}`),
    employeeCount: employees,
    employeeCountRange: sizeClassOf(employees),
    foundedYear: maybe(random.between(1890, 2022)),
    industries: [INDUSTRIES[company.industry]],
    specialties: random.chance(0.5) ? [random.pick(SKILLS)] : [],
    logoUrl: null,
    coverImageUrl: null,
    headquarter,
    locations: [headquarter, ...(random.chance(0.4) ? [cityOf(random.pick(LOCATIONS))] : [])],
  };
}

function companyPage(company: Company): string {
  return page(
    'company',
    company.name,
    `<main id="company" data-company-id="${company.companyId}"><h1>${escaped(company.name)}</h1></main>`,
  );
}
