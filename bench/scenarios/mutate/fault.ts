/** What kind of mistake a fault is. */
export const RULES = [
  'condition negated',
  'bound off by one',
  'and for or',
  'await dropped',
  'call dropped',
  'event not recorded',
  'assignment dropped',
  'refusal dropped',
  'early return dropped',
  'flag flipped',
  'write without its fence',
  'SQL condition dropped',
  'SQL condition negated',
  'lock dropped',
  'order reversed',
] as const;

export type Rule = (typeof RULES)[number];

/** A change of one place of a compiled file. */
export interface Edit {
  rule: Rule;
  /** What is replaced, as offsets into the text. */
  from: number;
  to: number;
  by: string;
  /** What it is part of, as people are shown it. */
  shownFrom: number;
  shownTo: number;
  /** Where that begins, of SQL where its literal does: the source map knows this place. */
  mapped: number;
}

/** One mistake that somebody might have made, of which some test should tell. */
export interface Fault {
  rule: Rule;
  /** The source, and its line. */
  file: string;
  line: number;
  before: string;
  after: string;
  /** The compiled file with it. */
  text: string;
}
