import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { bytes, count } from '../format.ts';
import { COLUMNS, type Point } from '../wire.ts';
import {
  FLIGHT,
  type Line,
  REQUESTS,
  rowAt,
  TOKENS,
  tableOf,
  VOLUME,
  WAITING,
} from './chart-lines.ts';
import { Plot } from './plot.ts';
import { RangeChoice } from './range-choice.tsx';
import { between, endsOf, NOW, type TimeRange } from './time-range.ts';

const DARK = matchMedia('(prefers-color-scheme: dark)');

interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly points: readonly Point[];
  /** Both ends of the shown range, in seconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly isLive: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Called when the user has chosen a range with the pointer, in seconds since 1970. */
  readonly choose: (from: number, to: number) => void;
  /** Returns to the live range. */
  readonly leave: () => void;
  readonly print?: (value: number) => string;
  /** The text to show if no line has a value. */
  readonly empty: string;
  /** Whether the values of each line are stacked on those of the lines before it. */
  readonly isStacked?: boolean;
  /** Whether the chart takes a whole row. */
  readonly isWide?: boolean;
  /** Whether values are counts per second: the current second is incomplete, and is not drawn. */
  readonly isRate?: boolean;
}

/** The last quarter of an hour, in five pictures. */
export function TimeLines({
  points,
  at,
}: {
  readonly points: readonly Point[];
  readonly at: number;
}) {
  const [range, setRange] = useState<TimeRange>(NOW);
  const now = at / 1_000;
  const first = points[0]?.[0] ?? undefined;
  const choose = (from: number, to: number) => setRange(between(from, to, now));
  const leave = () => setRange(NOW);
  const { isLive } = range;
  const shared = { points, at, isLive, choose, leave, ...endsOf(range, first, now) };
  return (
    <section aria-labelledby="time-title">
      <div class="section-head">
        <h2 id="time-title">Time lines</h2>
        <RangeChoice range={range} first={first} now={now} choose={setRange} />
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
  from,
  to,
  isLive,
  at,
  choose,
  leave,
  print = count,
  empty,
  isStacked = false,
  isWide = false,
  isRate = false,
}: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const listener = useRef({ choose, leave });
  listener.current = { choose, leave };
  const [hovered, setHovered] = useState<number | null>(null);
  const isRunning = (points.at(-1)?.[0] ?? 0) >= Math.floor(at / 1_000);
  const leavesOut = isRate && isRunning;
  const drawn = useMemo(() => (leavesOut ? points.slice(0, -1) : points), [points, leavesOut]);
  const { used, table } = useUsed(drawn, lines);
  const isEmpty = used.length === 0;

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    // The lines of a chart cannot be changed after it is made.
    if (plot.current?.lines !== used) {
      plot.current?.destroy();
      plot.current = new Plot(element, {
        lines: used,
        print,
        isStacked,
        hover: setHovered,
        choose: (...ends) => listener.current.choose(...ends),
        leave: () => listener.current.leave(),
      });
    }
    plot.current.show(table, from, to);
  }, [used, table, from, to, print, isStacked]);

  useEffect(() => {
    const redraw = () => plot.current?.redraw();
    DARK.addEventListener('change', redraw);
    return () => {
      DARK.removeEventListener('change', redraw);
      plot.current?.destroy();
    };
  }, []);

  const row = hovered ?? (isLive ? drawn.length - 1 : rowAt(table, to));
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

function shown(value: number | null | undefined, print: (value: number) => string): string {
  return value === null || value === undefined ? '' : print(value);
}

/** The lines with a value above 0: a line of zeros would hide others. */
function useUsed(points: readonly Point[], lines: readonly Line[]) {
  const kept = useRef<readonly Line[]>([]);
  const used = lines.filter(({ column }) => {
    const index = COLUMNS.indexOf(column);
    return points.some((point) => (point[index] ?? 0) > 0);
  });
  // Keeps the same array while the lines are the same, because a new array makes a new chart.
  if (
    String(used.map(({ column }) => column)) !== String(kept.current.map((line) => line.column))
  ) {
    kept.current = used;
  }
  const drawn = kept.current;
  const table = useMemo(() => tableOf(points, drawn), [points, drawn]);
  return { used: drawn, table };
}
