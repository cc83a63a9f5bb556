import typia, { type tags } from 'typia';

/** The body of a recruiter search, as the site takes it. */
export interface RecruiterSearch {
  start?: number & tags.Type<'uint32'> & tags.Maximum<1000>;
  count?: number & tags.Type<'uint32'> & tags.Minimum<1> & tags.Maximum<50>;
  keywords?: string & tags.MinLength<1> & tags.MaxLength<200>;
  titles?: Entries<Scoped<TimeScope>>;
  companies?: Entries<Scoped<TimeScope>>;
  locations?: Entries<Scoped<GeoScope>>;
  skills?: Entries<Entry>;
  schools?: Entries<Entry>;
  industries?: Entries<Entry>;
  currentCompanies?: Entries<Entry>;
  pastCompanies?: Entries<Entry>;
  firstNames?: Entries<Text>;
  lastNames?: Entries<Text>;
  zipCodes?: Entries<Text>;
  companySizes?: Entries<'A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I'>;
  jobFunctions?: Entries<number>;
  seniorities?: Entries<number>;
  networks?: Entries<'F' | 'S' | 'A' | 'O'>;
  profileLanguages?: Entries<Text>;
  recentlyJoined?: number;
  graduationYear?: Range;
  yearsOfExperience?: Range;
  veteran?: boolean;
  distance?: number;
}

export type TimeScope = 'CURRENT_OR_PAST' | 'CURRENT' | 'PAST' | 'PAST_NOT_CURRENT';
export type GeoScope = 'CURRENT' | 'PREFERRED_NOT_CURRENT' | 'CURRENT_OR_PREFERRED';

export interface Entry {
  id: string;
  filter?: 'CAN_HAVE' | 'MUST_HAVE' | 'DOESNT_HAVE';
}

interface Scoped<Scope> extends Entry {
  scope?: Scope;
}

export interface Range {
  min?: number & tags.Type<'int32'>;
  max?: number & tags.Type<'int32'>;
}

type Entries<T> = T[] & tags.MinItems<1> & tags.MaxItems<100>;
type Text = string & tags.MinLength<1> & tags.MaxLength<100>;

export const validateRecruiterSearch = typia.createValidateEquals<RecruiterSearch>();
