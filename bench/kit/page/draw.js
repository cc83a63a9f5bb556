// Draws the plots that stand in the page. A plot with names on its x axis has bars, every other one has lines.
const COLORS = ['#3b82f6', '#e8833a', '#2fa36b', '#9b6bd6', '#d64f6b', '#7a8793'];
const HEIGHT = 280;
const text = getComputedStyle(document.body).color;

/** The axis's own way to say a number is too long for small figures. */
const short = (value) => (value == null ? '' : value.toLocaleString('en-US', { maximumSignificantDigits: 4 }));

function draw(plot, place) {
  const names = plot.x.names;
  const xs = names ? names.map((_, i) => i) : plot.x.values;
  const bars = names ? uPlot.paths.bars({ size: [0.5, 90] }) : undefined;
  const axis = { stroke: text, grid: { stroke: '#88888840' }, ticks: { stroke: '#88888840' } };
  const options = {
    width: place.clientWidth,
    height: HEIGHT,
    padding: [8, 40, 0, 0],
    scales: {
      x: { time: false, distr: plot.x.log ? 3 : 1, ...(names && { range: [-0.6, names.length - 0.4] }) },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        label: plot.x.label,
        ...(names && { splits: () => xs, values: () => names }),
      },
      { ...axis, label: plot.y, size: 70 },
    ],
    series: [
      { label: plot.x.label, value: (_, x) => (names ? (names[x] ?? '') : short(x)) },
      ...plot.series.map(({ name }, i) => ({
        label: name,
        stroke: COLORS[i % COLORS.length],
        width: 2,
        spanGaps: true,
        value: (_, y) => short(y),
        ...(bars && { paths: bars, fill: `${COLORS[i % COLORS.length]}a0` }),
      })),
    ],
  };
  new uPlot(options, [xs, ...plot.series.map(({ values }) => values)], place);
}

for (const plot of JSON.parse(document.getElementById('plots').textContent)) {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  caption.textContent = plot.title;
  figure.append(caption);
  document.querySelector('main').append(figure);
  draw(plot, figure);
}
