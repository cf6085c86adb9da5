import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { bytes, clockTime, count } from '../format.ts';
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
  /** Takes the whole row. */
  readonly isWide?: boolean;
  /** Counts what happens in a second: the one that still runs is not drawn. */
  readonly isRate?: boolean;
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
  costBudget: 'sky',
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
        <Chart
          {...shared}
          title="Requests a second"
          lines={REQUESTS}
          empty="Nothing was sent."
          isWide
          isRate
        />
        <Chart
          {...shared}
          title="Waiting, by cause"
          lines={WAITING}
          empty="Nothing waited."
          isStacked
        />
        <Chart {...shared} title="In flight" lines={FLIGHT} empty="Nothing was in flight." />
        <Chart
          {...shared}
          title="Bytes a second"
          lines={VOLUME}
          print={bytes}
          empty="Nothing was sent that has a size."
          isRate
        />
        <Chart
          {...shared}
          title="Tokens a second"
          lines={TOKENS}
          empty="No tokens are counted: give a limit of tokens, or return the usage."
          isRate
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
  isWide = false,
  isRate = false,
}: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [hovered, setHovered] = useState<number | null>(null);
  const theme = useTheme();
  const isRunning = (points.at(-1)?.[0] ?? 0) >= Math.floor(at / 1_000);
  const leavesOut = isRate && isRunning;
  const drawn = useMemo(() => (leavesOut ? points.slice(0, -1) : points), [points, leavesOut]);
  const { used, table } = useUsed(drawn, lines);
  const isEmpty = used.length === 0;

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const made = new uPlot(optionsOf(used, print, isStacked, setHovered), [[]], element);
    plot.current = made;
    const resize = () => made.setSize({ width: element.clientWidth, height: CHART_HEIGHT });
    const observer = new ResizeObserver(resize);
    observer.observe(element);
    resize();
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [used, print, isStacked, theme]);

  useEffect(() => {
    const made = plot.current;
    if (made === undefined) return;
    made.setData((isStacked ? stacked(table) : table) as uPlot.AlignedData, false);
    const end = at / 1000;
    // A program that has just begun has no empty minute before it.
    const start = Math.max(end - seconds, Math.min(table[0]?.[0] ?? end, end - LEAST_SECONDS));
    made.setScale('x', { min: start, max: end });
    const { min, max } = rangeOf(isStacked ? stacked(table) : table, start);
    made.setScale('y', { min, max });
  }, [table, seconds, at, isStacked, theme]);

  const row = hovered ?? drawn.length - 1;
  return (
    <figure class={`chart ${isWide ? 'is-wide' : ''}`}>
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="legend">
          {used.map((line) => (
            <span key={line.column} class="legend-item">
              <span
                class={`swatch ${line.dash === undefined ? '' : 'is-dashed'}`}
                style={{ color: `var(--${line.colour})` }}
              />
              {line.label} <b>{shown(table[used.indexOf(line) + 1]?.[row], print)}</b>
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

/** A chart shows so many at the least. */
const LEAST_SECONDS = 20;

/** `500K`, `1M`: an axis has little room. */
function short(value: number): string {
  return value < 10_000 ? count(value) : SHORT.format(value);
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact' });

/** Steps of an axis: whole numbers, as there are no halves of a request; of bytes powers of two. */
const COUNT_STEPS = Array.from({ length: 36 }, (_, place) => {
  const power = 10 ** Math.floor(place / 3);
  return ([1, 2, 5][place % 3] ?? 1) * power;
});
const BYTE_STEPS = Array.from({ length: 50 }, (_, place) => 2 ** place);

function shown(value: number | null | undefined, print: (value: number) => string): string {
  return value === null || value === undefined ? '' : print(value);
}

/** The lines that have anything to show: one of zeros would lie over others. */
function useUsed(points: readonly Point[], lines: readonly Line[]) {
  const kept = useRef<readonly Line[]>([]);
  const used = lines.filter(({ column }) => {
    const index = COLUMNS.indexOf(column);
    return points.some((point) => (point[index] ?? 0) > 0);
  });
  // The same list as long as its lines are the same: a chart is made anew for another one.
  if (
    String(used.map(({ column }) => column)) !== String(kept.current.map((line) => line.column))
  ) {
    kept.current = used;
  }
  const drawn = kept.current;
  const table = useMemo(() => tableOf(points, drawn), [points, drawn]);
  return { used: drawn, table };
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
        values: (_plot, values) => values.map((value) => clockTime(value * 1_000)),
      },
      {
        stroke: ink,
        grid,
        ticks: { show: false },
        font,
        size: 58,
        space: 26,
        incrs: print === bytes ? BYTE_STEPS : COUNT_STEPS,
        values: (_plot, values) =>
          values.map((value) =>
            print === count ? short(value) : print(value).replace('.0 ', ' '),
          ),
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
