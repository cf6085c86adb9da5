import uPlot from 'uplot';
import { bytes, clockTime, count } from '../format.ts';
import { greatest, type Line, stacked, type Table } from './chart-lines.ts';

const HEIGHT = 150;

/** A shorter drag of the pointer does not choose a range. */
const LEAST_DRAG_PX = 6;

export interface PlotParts {
  readonly lines: readonly Line[];
  readonly print: (value: number) => string;
  /** Whether the values of each line are added to those of the lines before it. */
  readonly isStacked: boolean;
  /** Called when the pointer is over another row of the table; null: over none. */
  readonly hover: (row: number | null) => void;
  /** Called when the user has chosen a range, in seconds since 1970. */
  readonly choose: (from: number, to: number) => void;
  /** Called after a double click. */
  readonly leave: () => void;
}

/** A chart on a canvas. */
export class Plot {
  readonly lines: readonly Line[];
  readonly #plot: uPlot;
  readonly #isStacked: boolean;
  readonly #observer: ResizeObserver;

  constructor(element: HTMLElement, parts: PlotParts) {
    this.lines = parts.lines;
    this.#isStacked = parts.isStacked;
    const plot = new uPlot(optionsOf(parts), [[]], element);
    this.#plot = plot;
    const resize = () => plot.setSize({ width: element.clientWidth, height: HEIGHT });
    this.#observer = new ResizeObserver(resize);
    this.#observer.observe(element);
    resize();
  }

  /** @param from the left end, in seconds since 1970 @param to the right end */
  show(table: Table, from: number, to: number): void {
    const drawn = this.#isStacked ? stacked(table) : table;
    this.#plot.setData(drawn as uPlot.AlignedData, false);
    this.#plot.setScale('x', { min: from, max: to });
    this.#plot.setScale('y', { min: 0, max: greatest(drawn, from, to) * 1.08 || 1 });
  }

  /** Draws the same data again, as after a change of colours. */
  redraw(): void {
    this.#plot.redraw(false);
  }

  destroy(): void {
    this.#observer.disconnect();
    this.#plot.destroy();
  }
}

/** Abbreviates the numbers of an axis: `500K`, `1M`. */
function short(value: number): string {
  return value < 10_000 ? count(value) : SHORT.format(value);
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact' });

/** The steps of an axis: integers, since requests cannot be split; for bytes powers of two. */
const COUNT_STEPS = Array.from({ length: 36 }, (_, place) => {
  const power = 10 ** Math.floor(place / 3);
  return ([1, 2, 5][place % 3] ?? 1) * power;
});
const BYTE_STEPS = Array.from({ length: 50 }, (_, place) => 2 ** place);

const STYLE = getComputedStyle(document.documentElement);

/** A colour of the style sheet, read at each drawing: the system's theme may change. */
function colour(name: string): string {
  return STYLE.getPropertyValue(`--${name}`).trim();
}

function optionsOf({ lines, print, isStacked, hover, choose, leave }: PlotParts): uPlot.Options {
  const font = '12px system-ui, sans-serif';
  const axis = { stroke: () => colour('ink-quiet'), ticks: { show: false }, font };
  const series = lines.map((line) => ({
    stroke: () => colour(line.colour),
    width: 1.5,
    ...(line.dash && { dash: line.dash }),
    ...(line.isArea && { fill: () => `${colour(line.colour)}${isStacked ? 'cc' : '2b'}` }),
    points: { show: false },
    spanGaps: false,
  }));
  const chosen = (plot: uPlot) => {
    const { left, width } = plot.select;
    if (width < LEAST_DRAG_PX) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    choose(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'));
  };
  return {
    width: 300,
    height: HEIGHT,
    legend: { show: false },
    cursor: {
      // Other charts follow the pointer; a range is chosen in one of them.
      sync: {
        key: 'time',
        filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' },
      },
      y: false,
      drag: { x: true, y: false, setScale: false, dist: LEAST_DRAG_PX },
      points: { show: false },
      bind: {
        dblclick: () => () => {
          leave();
          return null;
        },
      },
    },
    scales: { x: { time: true, auto: false }, y: { auto: false } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 70,
        values: (_plot, values) => values.map((value) => clockTime(value * 1_000)),
      },
      {
        ...axis,
        grid: { stroke: () => colour('line'), width: 1 },
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
    hooks: {
      setCursor: [({ cursor }) => hover(cursor.idx ?? null)],
      setSelect: [chosen],
    },
  };
}
