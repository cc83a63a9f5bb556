import type { AnswerOf, Signature } from '../../contract/signature.js';
import type { ProgramOutcome, ProgramRun } from '../../program.js';
import type { Site } from '../site/site.js';

/** The page program of one capability on this site. */
export interface SiteProgram<Name extends string = string> {
  /** The capability's. */
  readonly name: Name;
  readonly run: (run: ProgramRun, site: Site) => Promise<ProgramOutcome>;
  /** It drives a page. */
  readonly usesPage: boolean;
}

type Run<S extends Signature> = (run: ProgramRun<S['input']>, site: Site) => Promise<ProgramOutcome<AnswerOf<S>>>;

/** Checks a program that opens no page against its capability's contract: the input it reads, and the result it gives. */
export function defineProgram<S extends Signature>(name: S['name'], run: Run<S>): SiteProgram<S['name']> {
  // The run's input was checked against the same contract when it was submitted, or when its turn came.
  return { name, run: run as unknown as SiteProgram['run'], usesPage: false };
}

/** The same for a program that drives a page. */
export function definePageProgram<S extends Signature>(name: S['name'], run: Run<S>): SiteProgram<S['name']> {
  return { ...defineProgram(name, run), usesPage: true };
}
