import { PREFIX } from '../../../server/metrics/catalogue.js';

/** One line of figures. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABELS = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`;
const NUMBER = String.raw`(?:[+-]?Inf|NaN|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)`;
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABELS}(?:,${LABELS})*)\\})? (${NUMBER})$`);

/**
 * Reads Prometheus' text format, stricter than Prometheus does. Throws at the first line that breaks a rule: each family stands
 * together, with its help and its type before its figures; no series twice; counters are not negative; the buckets of a histogram
 * ascend to `+Inf`, which is its count; and of the service's own, names are in base units and counters alone end in `_total`.
 */
export function parseExposition(text: string): Family[] {
  const families: Family[] = [];
  const seen = new Set<string>();
  let help: { name: string; text: string } | undefined;
  for (const line of text.split('\n')) {
    const wrong = (why: string) => new Error(`${why}: ${line}`);
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (line === '') continue;
    if (keyword === 'HELP') help = { name, text: rest };
    else if (keyword === 'TYPE') {
      if (help?.name !== name) throw wrong('a type without its help');
      if (!/^(counter|gauge|histogram|summary)$/.test(rest)) throw wrong('an unknown type');
      if (families.some((family) => family.name === name)) throw wrong('a family in two places');
      families.push({ name, type: rest, help: help.text, samples: [] });
    } else {
      const sample = sampleOf(line);
      const family = families.at(-1);
      if (!sample || !family) throw wrong('no line of the format');
      if (seen.has(line.slice(0, line.lastIndexOf(' ')))) throw wrong('a series twice');
      seen.add(line.slice(0, line.lastIndexOf(' ')));
      const suffix = family.type === 'histogram' ? '(_bucket|_sum|_count)' : '';
      if (!new RegExp(`^${family.name}${suffix}$`).test(sample.name)) throw wrong(`not of ${family.name}`);
      family.samples.push(sample);
    }
  }
  for (const family of families) checkFamily(family);
  return families;
}

function sampleOf(line: string): Sample | undefined {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return undefined;
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, of]) => [label, of]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value?.replace('Inf', 'Infinity')) };
}

function checkFamily({ name, type, samples }: Family): void {
  const wrong = (why: string) => new Error(`${name}: ${why}`);
  const own = name.startsWith(PREFIX);
  if (own && /_(ms|millis|milliseconds|minutes|mib|mb|kib|kb|percent)(_|$)/.test(name)) throw wrong('not a base unit');
  if (own && (type === 'counter') !== name.endsWith('_total')) throw wrong('only counters end in _total');
  if (type !== 'gauge' && samples.some(({ value }) => value < 0)) throw wrong('a count below zero');
  if (type !== 'histogram') return;
  const series = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const one of series.values()) {
    const buckets = one.filter((sample) => sample.name.endsWith('_bucket'));
    const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('Inf', 'Infinity')));
    const ascends = (values: number[], strictly: boolean) =>
      values.every((value, i) => i === 0 || value > values[i - 1]! || (!strictly && value === values[i - 1]));
    if (!ascends(bounds, true) || bounds.at(-1) !== Number.POSITIVE_INFINITY) throw wrong('buckets in disorder');
    if (
      !ascends(
        buckets.map(({ value }) => value),
        false,
      )
    )
      throw wrong('buckets that do not add up');
    const count = one.find((sample) => sample.name.endsWith('_count'));
    if (!count || count.value !== buckets.at(-1)?.value) throw wrong('a count that is not its last bucket');
    if (!one.some((sample) => sample.name.endsWith('_sum'))) throw wrong('no sum');
  }
}
