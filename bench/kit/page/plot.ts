/** What `draw.js` draws in the page of a report. */
export interface Plot {
  title: string;
  /** Numbers in their order, or names: then each is a group of bars. */
  x: { label: string; values: number[]; log?: boolean } | { label: string; names: string[] };
  /** Its label. */
  y: string;
  series: { name: string; values: (number | null)[] }[];
}
