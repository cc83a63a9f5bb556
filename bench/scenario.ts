/** A setting of a scenario. On the command line it is `--` and its name, with hyphens between the words. */
export interface Option {
  means: string;
  /** Also decides the type: a whole number from 1, or text. */
  default: number | string;
}

type Options = Record<string, Option>;

/** The values of these options, by name. */
export type OptionValues<Known extends Options> = {
  [Name in keyof Known]: Known[Name]['default'] extends number ? number : string;
};

/** One thing that can be measured. */
export interface Scenario {
  name: string;
  summary: string;
  options: Options;
  /** `say` prints a line of progress. Throws when nothing could be measured. */
  run(values: Record<string, number | string>, say: (line: string) => void): Promise<Report>;
}

/** A scenario whose `run` takes the values of the options that it lists. */
export function defineScenario<Known extends Options>(
  scenario: Omit<Scenario, 'options' | 'run'> & {
    options: Known;
    run(values: OptionValues<Known>, say: (line: string) => void): Promise<Report>;
  },
): Scenario {
  return scenario;
}

export interface Report {
  text: string;
  /** The same as one JSON object. */
  data: Record<string, unknown>;
  /** What was promised and did not hold; with any, the bench ends with status 1. */
  faults: string[];
}
