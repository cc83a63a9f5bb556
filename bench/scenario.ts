/** One thing that can be measured. */
export interface Scenario {
  name: string;
  summary: string;
  options: Option[];
  /** `say` tells a person how far it is. Throws when nothing could be measured. */
  run(options: Record<string, string | number>, say: (line: string) => void): Promise<Report>;
}

export interface Option {
  /** `--seconds` */
  flag: string;
  means: string;
  default: number | string;
}

export interface Report {
  text: string;
  /** The same as one JSON object. */
  data: Record<string, unknown>;
  /** What was promised and did not hold; with any, the bench ends with status 1. */
  faults?: string[];
}
