import 'uplot/dist/uPlot.min.css';
import './plots.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import Uplot from 'uplot';
import type { OverviewJson } from '../../../../routes/operator/overview.js';

/** A line of a plot: the colour of its tone, and dashed where another has the same meaning. */
export interface Line {
  label: string;
  tone: 'good' | 'bad' | 'wait' | 'busy' | 'quiet';
  dashed?: boolean;
  values: readonly (number | null)[];
}

interface PlotProps {
  title: string;
  hour: Pick<OverviewJson, 'from' | 'step_s'>;
  lines: readonly Line[];
  /** A value in words. */
  show(value: number): string;
  /** The plot is at least so high. */
  least: number;
  /** What its values add up to by their number means something: of an hour of medians it does not. */
  averaged?: boolean;
}

const HEIGHT_px = 160;
const AXIS_px = 64;
const TIMES_px = 28;
const DASH_px = [6, 4];

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

/** What happened in the last hour, as lines, and in a table, for those who cannot point too: now, or at the step that one points at, and over the hour. */
export function Plot({ title, hour, lines, show, least, averaged = true }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<Uplot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const data = useMemo((): Uplot.AlignedData => {
    const from_s = Date.parse(hour.from) / 1000;
    const times = lines[0]?.values.map((_, i) => from_s + i * hour.step_s) ?? [];
    return [times, ...lines.map(({ values }) => [...values])];
  }, [hour]);
  useEffect(() => {
    const host = box.current as HTMLDivElement;
    const made = new Uplot(optionsOf({ lines, show, least }, host.clientWidth, setAt), data, host);
    plot.current = made;
    const sized = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height: HEIGHT_px }));
    sized.observe(host);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => made.redraw();
    dark.addEventListener('change', redraw);
    return () => {
      dark.removeEventListener('change', redraw);
      sized.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data), [data]);
  return (
    <section class="plot card" aria-label={title}>
      <h2>{title}</h2>
      <div ref={box} class="canvas" aria-hidden="true" />
      <table class="legend">
        <thead>
          <tr>
            <td />
            <th scope="col">{at === null ? 'Now' : CLOCK.format(1000 * (data[0][at] ?? 0))}</th>
            {averaged && <th scope="col">Average</th>}
            <th scope="col">Highest</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <Legend key={line.label} {...{ line, at, show, averaged }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

interface LegendProps extends Pick<PlotProps, 'show'> {
  line: Line;
  at: number | null;
  averaged: boolean;
}

function Legend({ line: { label, tone, dashed, values }, at, show, averaged }: LegendProps) {
  const told = values.filter((one) => one !== null);
  const words = (value: number | null | undefined) => (value == null || Number.isNaN(value) ? '–' : show(value));
  return (
    <tr>
      <th scope="row">
        <span class={`stroke ${tone} ${dashed ? 'dashed' : ''}`} aria-hidden="true" />
        {label}
      </th>
      <td>{words(values.at(at ?? -1))}</td>
      {averaged && <td>{words(told.reduce((sum, value) => sum + value, 0) / told.length)}</td>}
      <td>{words(told.length > 0 ? Math.max(...told) : null)}</td>
    </tr>
  );
}

function optionsOf(
  { lines, show, least }: Pick<PlotProps, 'lines' | 'show' | 'least'>,
  width: number,
  pointed: (at: number | null) => void,
): Uplot.Options {
  const axis: Uplot.Axis = {
    stroke: () => colour('quiet'),
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    ...{ width, height: HEIGHT_px },
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, most) => [0, Math.max(least, most * 1.1)] } },
    axes: [
      { ...axis, size: TIMES_px, values: '{HH}:{mm}' },
      { ...axis, size: AXIS_px, values: (_, splits) => splits.map((value) => (value === null ? '' : show(value))) },
    ],
    series: [
      {},
      ...lines.map(
        ({ tone, dashed }): Uplot.Series => ({
          stroke: () => colour(tone),
          width: 1.5,
          points: { show: false },
          ...(dashed && { dash: DASH_px }),
        }),
      ),
    ],
    hooks: { setCursor: [({ cursor }) => pointed(cursor.idx ?? null)] },
  };
}
