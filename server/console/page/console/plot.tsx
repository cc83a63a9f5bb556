import 'uplot/dist/uPlot.min.css';
import './plots.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import Uplot from 'uplot';
import type { OverviewJson } from '../../../routes/overview.js';

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
  /** What stands for the whole hour. */
  whole(values: readonly number[]): number | null;
}

const HEIGHT_px = 160;
const AXIS_px = 64;
const TIMES_px = 28;
const DASH_px = [6, 4];

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

/** What happened in the last hour, as lines; in words beside them, of the whole hour or of the step that one points at. */
export function Plot({ title, hour, lines, show, least, whole }: PlotProps) {
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
  const words = lines.map((line) => ({ ...line, text: textOf(line.values, at, show, whole) }));
  return (
    <section class="plot card" aria-label={title}>
      <h2>{title}</h2>
      <div ref={box} class="canvas" aria-hidden="true" />
      <ul class="legend">
        {words.map(({ label, tone, dashed, text }) => (
          <li key={label}>
            <span class={`stroke ${tone} ${dashed ? 'dashed' : ''}`} aria-hidden="true" />
            {label} <strong>{text}</strong>
          </li>
        ))}
      </ul>
    </section>
  );
}

function textOf(values: Line['values'], at: number | null, show: PlotProps['show'], whole: PlotProps['whole']): string {
  const value = at === null ? whole(values.filter((one) => one !== null)) : (values[at] ?? null);
  return value === null ? '–' : show(value);
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
