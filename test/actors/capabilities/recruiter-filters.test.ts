import t from 'tap';
import { validateRecruiterFilters } from '../../../actors/capabilities/recruiter-filters.js';

const accepted: Record<string, unknown>[] = [
  { keywords: 'anything', start: 0, count: 5 },
  { titles: ['Engineer', { name: 'Lead', title_id: 9, filter_type: 'must_have', time_scope: 'past_not_current' }] },
  { titles: [{ name: 'Lead', title_id: '9' }] },
  { first_names: ['Ada'], last_names: ['Lovelace'] },
  {
    locations: ['Berlin', { name: 'Paris', filter_type: 'doesnt_have', geo_scope: 'current_or_preferred' }],
    distance: 1,
  },
  { zip_codes: ['10115'], distance: 100 },
  { companies: [{ name: 'Acme', time_scope: 'past' }] },
  { skills: [{ name: 'SQL', filter_type: 'can_have' }], schools: ['A'], industries: ['B'] },
  { current_companies: ['A'], past_companies: [{ name: 'B', filter_type: 'must_have' }] },
  { company_sizes: ['A', 'I'] },
  { job_functions: [8, '8'], seniorities: [1, 10, '4'] },
  { networks: ['F', 'S', 'A', 'O'] },
  { profile_languages: ['en', 'ru'] },
  { recently_joined: 1 },
  { recently_joined: 5 },
  { graduation_years: { min: 2000 }, yoe: { min: 3, max: 3 } },
  { is_veteran: false },
];

const refused: [Record<string, unknown>, string][] = [
  [{ titles: [''] }, 'input.titles[0]'],
  [{ titles: [' '] }, 'input.titles[0]'],
  [{ titles: [{ title_id: 1 }] }, 'input.titles[0].name'],
  [{ titles: [{ name: 'a', filter_type: 'should_have' }] }, 'input.titles[0].filter_type'],
  [{ titles: [{ name: 'a', time_scope: 'future' }] }, 'input.titles[0].time_scope'],
  [{ titles: [{ name: 'a', geo_scope: 'current' }] }, 'input.titles[0].geo_scope'],
  [{ first_names: [{ name: 'Ada' }] }, 'input.first_names[0]'],
  [{ locations: 'Berlin' }, 'input.locations'],
  [{ locations: [{ name: 'a', time_scope: 'past' }] }, 'input.locations[0].time_scope'],
  [{ skills: [{ name: 'a', time_scope: 'past' }] }, 'input.skills[0].time_scope'],
  [{ zip_codes: [''] }, 'input.zip_codes[0]'],
  [{ company_sizes: ['J'] }, 'input.company_sizes[0]'],
  [{ job_functions: ['engineering'] }, 'input.job_functions[0]'],
  [{ seniorities: [0] }, 'input.seniorities[0]'],
  [{ seniorities: [11] }, 'input.seniorities[0]'],
  [{ networks: ['X'] }, 'input.networks[0]'],
  [{ profile_languages: ['xx'] }, 'input.profile_languages[0]'],
  [{ recently_joined: 0 }, 'input.recently_joined'],
  [{ recently_joined: 6 }, 'input.recently_joined'],
  [{ graduation_years: {} }, 'input.graduation_years'],
  [{ graduation_years: { min: 2001, max: 2000 } }, 'input.graduation_years'],
  [{ yoe: { min: 1.5 } }, 'input.yoe.min'],
  [{ is_veteran: 'no' }, 'input.is_veteran'],
  [{ distance: 0, locations: ['a'] }, 'input.distance'],
  [{ distance: 5 }, 'input.distance'],
  [{ distance: 5, locations: [] }, 'input.distance'],
];

t.test('every recruiter filter takes what the table says', async (t) => {
  for (const input of accepted) t.strictSame(validateRecruiterFilters(input), [], JSON.stringify(input));
});

t.test('every recruiter filter refuses what the table does not say', async (t) => {
  for (const [input, path] of refused) {
    const paths = validateRecruiterFilters(input).map((error) => error.path);
    t.ok(paths.includes(path), `${path} of ${JSON.stringify(input)}: ${paths}`);
  }
});
