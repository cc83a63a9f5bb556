import type { Company } from './companies.js';
import { Draw } from './draw.js';
import type { Member } from './members.js';
import { facetId } from './taxonomy.js';
import { INDUSTRIES, LOCATIONS, SCHOOLS, SENTENCES, SKILLS, TITLES } from './words.js';

export interface Position {
  title: string;
  company: string;
  companyId: string;
  location: string;
  description: string | null;
  startedOn: { year: number; month: number };
  endedOn: { year: number; month: number } | null;
}

export interface Education {
  school: string;
  schoolId: string;
  degree: string | null;
  fieldOfStudy: string | null;
  startYear: number;
  endYear: number;
}

/** The long part of a profile: everything follows from the member, and is made when somebody looks. */
export interface Biography {
  about: string | null;
  experience: Position[];
  education: Education[];
  skills: string[];
  email: string;
  phoneNumbers: string[];
  address: string | null;
}

const DEGREES = [
  'Bachelor of Arts',
  'Bachelor of Science',
  'Diploma',
  'Master of Arts',
  'Master of Science',
  null,
] as const;
const FIELDS = [
  'Business Administration',
  'Computer Science',
  'Design',
  'Economics',
  'Engineering',
  'Law',
  null,
] as const;

/** The year in which the generated world stands still. */
export const PRESENT_YEAR = 2025;

export function biographyOf(member: Member, companies: readonly Company[]): Biography {
  const draw = new Draw('biography', member.hashId);
  const skills = new Set(Array.from({ length: draw.between(3, 9) }, () => draw.pick(SKILLS)));
  const experience = experienceOf(draw, member, companies);
  const begun = experience.at(-1)?.startedOn.year ?? PRESENT_YEAR;
  const city = cityOf(LOCATIONS[member.location] ?? '').city;
  return {
    about: draw.chance(0.7) ? `${member.headline}. ${draw.pick(SENTENCES)} ${draw.pick(SENTENCES)}` : null,
    experience,
    education: [
      {
        school: SCHOOLS[member.school] ?? '',
        schoolId: facetId('school', member.school),
        degree: draw.pick(DEGREES),
        fieldOfStudy: draw.pick(FIELDS),
        startYear: begun - 4,
        endYear: begun,
      },
    ],
    skills: [...skills],
    email: `${member.publicId}@mail.test`,
    phoneNumbers: draw.chance(0.4) ? [`+49 30 555${String(draw.between(0, 9_999)).padStart(4, '0')}`] : [],
    address: draw.chance(0.2) ? `${draw.between(1, 99)} ${draw.pick(TITLES)} Street, ${city}` : null,
  };
}

function experienceOf(draw: Draw, member: Member, companies: readonly Company[]): Position[] {
  const places = [
    member.company,
    member.pastCompany,
    ...(draw.chance(0.5) ? [draw.between(0, companies.length - 1)] : []),
  ];
  let end: Position['endedOn'] = null;
  return places.map((place, number) => {
    const company = companies[place] as Company;
    const startedOn = { year: (end?.year ?? PRESENT_YEAR) - draw.between(1, 6), month: draw.between(1, 12) };
    const position = {
      title: number === 0 ? member.title : draw.pick(TITLES),
      company: company.name,
      companyId: company.companyId,
      location: LOCATIONS[company.location] ?? '',
      description: draw.chance(0.5) ? `${INDUSTRIES[company.industry]}. ${draw.pick(SENTENCES)}` : null,
      startedOn,
      endedOn: end,
    };
    end = startedOn;
    return position;
  });
}

/** A location's two halves. */
export function cityOf(location: string): { city: string; country: string } {
  const [city = '', country = ''] = location.split(', ');
  return { city, country };
}
