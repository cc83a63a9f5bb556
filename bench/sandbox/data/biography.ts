import { careerOf, PRESENT_YEAR } from './career.js';
import type { Company } from './companies.js';
import type { Member } from './members.js';
import { SeededRandom } from './seeded-random.js';
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

/** The long part of a profile: everything follows from the member, and is made when it is read. */
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

export function biographyOf(member: Member, companies: readonly Company[]): Biography {
  const random = new SeededRandom('biography', member.hashId);
  const { graduationYear, skills } = careerOf(member);
  const city = cityOf(LOCATIONS[member.location] ?? '').city;
  return {
    about: random.chance(0.7) ? `${member.headline}. ${random.pick(SENTENCES)} ${random.pick(SENTENCES)}` : null,
    experience: experienceOf(random, member, companies),
    education: [
      {
        school: SCHOOLS[member.school] ?? '',
        schoolId: facetId('school', member.school),
        degree: random.pick(DEGREES),
        fieldOfStudy: random.pick(FIELDS),
        startYear: graduationYear - 4,
        endYear: graduationYear,
      },
    ],
    skills: skills.map((place) => SKILLS[place] ?? ''),
    email: `${member.publicId}@mail.test`,
    phoneNumbers: random.chance(0.4) ? [`+49 30 555${String(random.between(0, 9_999)).padStart(4, '0')}`] : [],
    address: random.chance(0.2) ? `${random.between(1, 99)} ${random.pick(TITLES)} Street, ${city}` : null,
  };
}

function experienceOf(random: SeededRandom, member: Member, companies: readonly Company[]): Position[] {
  const places = [
    member.company,
    member.pastCompany,
    ...(random.chance(0.5) ? [random.between(0, companies.length - 1)] : []),
  ];
  const { pastJob } = careerOf(member);
  let end: Position['endedOn'] = null;
  return places.map((place, number) => {
    const company = companies[place] as Company;
    const startedOn = { year: (end?.year ?? PRESENT_YEAR) - random.between(1, 6), month: random.between(1, 12) };
    const position = {
      title:
        number === 0 ? member.title : (TITLES[number === 1 ? pastJob : random.between(0, TITLES.length - 1)] ?? ''),
      company: company.name,
      companyId: company.companyId,
      location: LOCATIONS[company.location] ?? '',
      description: random.chance(0.5) ? `${INDUSTRIES[company.industry]}. ${random.pick(SENTENCES)}` : null,
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
