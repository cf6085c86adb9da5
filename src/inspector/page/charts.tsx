import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { bytes, count } from '../format.ts';
import { COLUMNS, type Column, GATES, type Gate, type Point } from '../wire.ts';

const WINDOWS = [
  { label: '1 min', seconds: 60 },
  { label: '5 min', seconds: 300 },
  { label: '15 min', seconds: 900 },
] as const;

interface Line {
  readonly column: Column;
  readonly label: string;
  /** The name of a colour of the style sheet. */
  readonly colour: string;
  readonly dash?: number[];
  readonly isArea?: boolean;
}

interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly points: readonly Point[];
  readonly seconds: number;
  readonly at: number;
  readonly print?: (value: number) => string;
  /** Said where no line has anything to show. */
  readonly empty: string;
  /** Values are put on top of each other. */
  readonly isStacked?: boolean;
}

const REQUESTS: readonly Line[] = [
  { column: 'sent', label: 'sent', colour: 'blue' },
  { column: 'ok', label: 'succeeded', colour: 'green' },
  { column: 'throttled', label: '429s', colour: 'red', isArea: true },
  { column: 'rateSet', label: 'rate set', colour: 'ink', dash: [2, 3] },
  { column: 'rateTold', label: 'rate told', colour: 'purple', dash: [8, 4] },
  { column: 'rateLearned', label: 'rate learned', colour: 'orange', dash: [8, 4] },
];
const FLIGHT: readonly Line[] = [
  { column: 'inFlight', label: 'in flight', colour: 'blue', isArea: true },
  { column: 'limit', label: 'limit', colour: 'ink', dash: [2, 3] },
];
const VOLUME: readonly Line[] = [
  { column: 'bytes', label: 'bytes', colour: 'purple', isArea: true },
];
const TOKENS: readonly Line[] = [
  { column: 'tokens', label: 'tokens', colour: 'green', isArea: true },
];

export const GATE_NAMES: Readonly<Record<Gate, string>> = {
  concurrency: 'slots',
  byteBudget: 'bytes',
  backoff: 'backoff',
  circuitBreaker: 'circuit',
  rateLimit: 'rate limits',
  costBudget: 'cost budget',
  pace: 'pace',
  retry: 'retry delay',
  paused: 'pause',
  shared: 'store',
};
export const GATE_COLOURS: Readonly<Record<Gate, string>> = {
  concurrency: 'blue',
  byteBudget: 'purple',
  backoff: 'red',
  circuitBreaker: 'ink',
  rateLimit: 'orange',
  costBudget: 'attempt',
  pace: 'yellow',
  retry: 'green',
  paused: 'grey',
  shared: 'grey',
};
const WAITING: readonly Line[] = GATES.map((gate) => ({
  column: gate,
  label: GATE_NAMES[gate],
  colour: GATE_COLOURS[gate],
  isArea: true,
}));

/** The last quarter of an hour, in five pictures. */
export function TimeLines({
  points,
  at,
}: {
  readonly points: readonly Point[];
  readonly at: number;
}) {
  const [seconds, setSeconds] = useState<number>(60);
  const shared = { points, seconds, at };
  return (
    <section aria-labelledby="time-title">
      <div class="section-head">
        <h2 id="time-title">Time lines</h2>
        <fieldset class="choice">
          <legend class="hidden">Length of time</legend>
          {WINDOWS.map((window) => (
            <label key={window.seconds}>
              <input
                type="radio"
                name="window"
                checked={seconds === window.seconds}
                onChange={() => setSeconds(window.seconds)}
              />
              <span>{window.label}</span>
            </label>
          ))}
        </fieldset>
      </div>
      <div class="charts">
        <Chart {...shared} title="Requests a second" lines={REQUESTS} empty="Nothing was sent." />
        <Chart
          {...shared}
          title="Waiting, by cause"
          lines={WAITING}
          empty="Nothing waited."
          isStacked
        />
        <Chart {...shared} title="In flight" lines={FLIGHT} empty="Nothing was in flight." />
        <Chart {...shared} title="Bytes a second" lines={VOLUME} print={bytes} empty="No bytes." />
        <Chart
          {...shared}
          title="Tokens a second"
          lines={TOKENS}
          empty="No tokens are counted: give a limit of tokens, or return the usage."
        />
      </div>
    </section>
  );
}

function Chart({
  title,
  lines,
  points,
  seconds,
  at,
  print = count,
  empty,
  isStacked = false,
}: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [hovered, setHovered] = useState<number | null>(null);
  const theme = useTheme();
  const table = useMemo(() => tableOf(points, lines), [points, lines]);
  const used = lines.filter((_, index) => table[index + 1]?.some((value) => (value ?? 0) > 0));
  const isEmpty = used.length === 0;

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const made = new uPlot(optionsOf(lines, print, isStacked, setHovered), [[]], element);
    plot.current = made;
    const resize = () => made.setSize({ width: element.clientWidth, height: CHART_HEIGHT });
    const observer = new ResizeObserver(resize);
    observer.observe(element);
    resize();
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [lines, print, isStacked, theme]);

  useEffect(() => {
    const made = plot.current;
    if (made === undefined) return;
    made.setData((isStacked ? stacked(table) : table) as uPlot.AlignedData, false);
    const end = at / 1000;
    made.setScale('x', { min: end - seconds, max: end });
    const { min, max } = rangeOf(isStacked ? stacked(table) : table, end - seconds);
    made.setScale('y', { min, max });
  }, [table, seconds, at, isStacked, theme]);

  const row = hovered ?? points.length - 2;
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="legend">
          {used.map((line) => (
            <span key={line.column} class="legend-item">
              <span
                class={`swatch ${line.dash === undefined ? '' : 'is-dashed'}`}
                style={{ color: `var(--${line.colour})` }}
              />
              {line.label} <b>{shown(table[lines.indexOf(line) + 1]?.[row], print)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot" ref={holder} aria-hidden="true" />
      {isEmpty && <p class="chart-empty">{empty}</p>}
    </figure>
  );
}

const CHART_HEIGHT = 150;

function shown(value: number | null | undefined, print: (value: number) => string): string {
  return value === null || value === undefined ? '' : print(value);
}

/** Columns of numbers, time first. */
function tableOf(points: readonly Point[], lines: readonly Line[]): (number | null)[][] {
  const wanted = [0, ...lines.map(({ column }) => COLUMNS.indexOf(column))];
  return wanted.map((index) => points.map((point) => point[index] ?? null));
}

/** Each column on top of those before it, the last at the top. */
function stacked(table: (number | null)[][]): (number | null)[][] {
  const [time = [], ...columns] = table;
  let below: (number | null)[] = time.map(() => 0);
  const sums = columns.map((column) => {
    below = column.map((value, row) => (value ?? 0) + (below[row] ?? 0));
    return below;
  });
  return [time, ...sums];
}

function rangeOf([time = [], ...columns]: (number | null)[][], from: number) {
  let max = 0;
  for (const [row, second] of time.entries()) {
    if ((second ?? 0) < from) continue;
    for (const column of columns) max = Math.max(max, column[row] ?? 0);
  }
  return { min: 0, max: max === 0 ? 1 : max * 1.08 };
}

function optionsOf(
  lines: readonly Line[],
  print: (value: number) => string,
  isStacked: boolean,
  hover: (row: number | null) => void,
): uPlot.Options {
  const colour = (name: string) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const ink = colour('ink-quiet');
  const grid = { stroke: colour('line'), width: 1 };
  const font = '12px system-ui, sans-serif';
  const series = lines.map((line) => ({
    stroke: colour(line.colour),
    width: 1.5,
    ...(line.dash && { dash: line.dash }),
    ...(line.isArea && { fill: `${colour(line.colour)}${isStacked ? 'cc' : '2b'}` }),
    points: { show: false },
    spanGaps: false,
  }));
  return {
    width: 300,
    height: CHART_HEIGHT,
    legend: { show: false },
    cursor: {
      sync: { key: 'time' },
      y: false,
      drag: { x: false, y: false },
      points: { show: false },
    },
    scales: { x: { time: true, auto: false }, y: { auto: false } },
    axes: [
      {
        stroke: ink,
        grid: { show: false },
        ticks: { show: false },
        font,
        size: 24,
        space: 70,
        values: (_plot, values) => values.map((value) => clockTime(value)),
      },
      {
        stroke: ink,
        grid,
        ticks: { show: false },
        font,
        size: 58,
        space: 36,
        values: (_plot, values) => values.map((value) => print(value)),
      },
    ],
    series: [{}, ...series],
    ...(isStacked && {
      bands: lines
        .slice(1)
        .map((_, index) => ({ series: [index + 2, index + 1] as [number, number] })),
    }),
    hooks: { setCursor: [({ cursor }) => hover(cursor.idx ?? null)] },
  };
}

/** `14:05:30`, by the clock of who looks. */
function clockTime(second: number): string {
  return new Date(second * 1_000).toLocaleTimeString([], { hourCycle: 'h23' });
}

/** Changes with the system's setting. */
function useTheme(): boolean {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), []);
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const change = () => setDark(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, [query]);
  return isDark;
}
