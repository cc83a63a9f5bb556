import type { Plot } from './page/plot.js';
import type { Spread } from './spread.js';

/** A setting of a scenario. On the command line it is `--` and its name, with hyphens between the words. */
export interface Option {
  means: string;
  /** Also decides the type: a number from 1, text, or a flag that is set by its name alone. */
  default: OptionValue;
  /** A number may have decimals, and be below 1. */
  fraction?: boolean;
  /** A number may be 0 as well. */
  none?: boolean;
}

export type OptionValue = number | string | boolean;

type Options = Record<string, Option>;

/** The values of these options, by name. */
export type OptionValues<Known extends Options> = {
  [Name in keyof Known]: Known[Name]['default'] extends number
    ? number
    : Known[Name]['default'] extends boolean
      ? boolean
      : string;
};

/** One thing that can be measured. */
export interface Scenario {
  name: string;
  summary: string;
  options: Options;
  /** Whether it measures a service of its own, which can be profiled. */
  startsService?: boolean;
  /** `say` prints a line of progress. Throws when nothing could be measured. */
  run(values: Record<string, OptionValue>, say: (line: string) => void): Promise<Report>;
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

/** The scenario's own defaults, but for what is said here; what it has no option for is left out. */
export function valuesOf({ options }: Scenario, said: Record<string, OptionValue>): Record<string, OptionValue> {
  return Object.fromEntries(Object.entries(options).map(([name, option]) => [name, said[name] ?? option.default]));
}

export interface Report {
  text: string;
  /** The same as one JSON object. */
  data: Record<string, unknown>;
  plots: Plot[];
  /** More is better. */
  headline?: { what: string; spread: Spread };
  /** What was promised and did not hold; with any, the bench ends with status 1. */
  faults: string[];
}

/** An option as the command line has it: `baselineConnections` is `baseline-connections`. */
export const flagName = (option: string): string =>
  option.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
