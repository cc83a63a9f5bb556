import type { Company, ConnectionEntry, GetCompany, ListConnections } from '../../contract/identity.js';
import { unexpectedAnswer } from '../../failures.js';
import { Endpoints } from '../access/endpoints.js';
import {
  type CompanyAnswer,
  type ConnectionsAnswer,
  isCompany,
  isConnections,
  type Place,
} from '../site/directory-answers.js';
import { defineProgram } from './define.js';
import { timestamp } from './profiles.js';

const DEFAULT_CONNECTIONS = 25;

/** Contract: social.connections.list, "Row shapes". */
const listConnections = defineProgram<ListConnections>('social.connections.list', async (run, site) => {
  const { start = 0, count = DEFAULT_CONNECTIONS } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const { data, paging } = await endpoints.get('connections', { start, count }, isConnections);
  if (paging.start !== start || data.length > count) throw unexpectedAnswer('answer');
  return { result: { connections: data.map(connectionEntry) } };
});

function connectionEntry(connection: ConnectionsAnswer['data'][number]): ConnectionEntry {
  const connected_at = timestamp(connection.connectedAt);
  return {
    hash_id: connection.hashId,
    public_id: connection.publicId,
    first_name: connection.firstName,
    last_name: connection.lastName,
    headline: connection.headline,
    avatar: connection.pictureUrl,
    ...(connected_at !== null && { connected_at }),
  };
}

/** Contract: social.company.get, by exactly one of its three names. */
const getCompany = defineProgram<GetCompany>('social.company.get', async (run, site) => {
  const { public_id, company_id, company_name } = run.input;
  const endpoints = await Endpoints.open(run, site);
  const query = { publicId: public_id, companyId: company_id, name: company_name };
  const { data } = await endpoints.get('companies', query, isCompany);
  return { result: { company: companyOf(data) } };
});

/** The account's connections, and companies. */
export const directoryPrograms = [listConnections, getCompany] as const;

/** Contract: "Company object". A field that the provider leaves empty is left out. */
function companyOf(company: CompanyAnswer['data']): Company {
  return withoutEmpty<Company>({
    public_id: company.publicId,
    company_id: company.companyId,
    name: company.name,
    tagline: company.tagline,
    description: company.description,
    url: company.url,
    website: company.websiteUrl,
    phone: company.phone,
    employee_count: company.employeeCount,
    employee_count_range: company.employeeCountRange && range(company.employeeCountRange),
    founded_year: company.foundedYear,
    industries: company.industries,
    industry: company.industries?.[0],
    specialties: company.specialties,
    headquarter: company.headquarter && place(company.headquarter),
    locations: company.locations?.flatMap((one) => place(one) ?? []),
    logo_url: company.logoUrl,
    cover_image_url: company.coverImageUrl,
  });
}

/** The fields that have a value. */
function withoutEmpty<Fields extends object>(
  fields: {
    [Field in keyof Fields]: Fields[Field] | null | undefined;
  },
): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value))) as Fields;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** `201-500`, `10001+` for the largest. */
function range({ start, end }: { start: number | null; end: number | null }): string | null {
  if (start === null) return null;
  return end === null ? `${start}+` : `${start}-${end}`;
}

/** `London, UK`, or the one of the two that the site shows. */
function place({ city, country }: Place): string | null {
  return [city, country].filter((part) => part !== null).join(', ') || null;
}
