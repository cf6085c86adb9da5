/** Draws one run: requests sent, accepted and rejected a second, and the estimated rate. */
import { changeOf } from './change.ts';
import { limitSpecs, MEAN_TOKENS } from './limit-specs.ts';
import type { Scenario } from './space.ts';
import type { TraceEntry } from './trace.ts';

const SECOND_MS = 1_000;
const WIDTH = 720;
const HEIGHT = 260;
const PLOT = { left: 52, right: 704, top: 52, bottom: 226 };
const FONT = 'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"';
/** No background, and colours of medium lightness, which are legible on white and on black. */
const GREY = '#7d8590';
const SERIES = {
  allowed: { color: GREY, text: 'allowed', stroke: 'stroke-width="1.5" stroke-dasharray="2 3"' },
  sent: { color: '#b08800', text: 'sent', stroke: 'stroke-width="1.2"' },
  accepted: { color: '#2da44e', text: 'accepted', stroke: 'stroke-width="2"' },
  rejected: { color: '#e5534b', text: 'rejected', stroke: 'stroke-width="1.5"' },
  believed: {
    color: '#539bf5',
    text: 'believed',
    stroke: 'stroke-width="1.5" stroke-dasharray="6 3"',
  },
} as const;
/**
 * The scale ends at this multiple of the accepted or allowed rate. Higher send rates are cut off.
 */
const HEADROOM = 1.6;
const MOST_LINES = 5;
/** Units of time, in seconds, with the allowed numbers of units between two marks. */
const TIME_UNITS = [
  ['s', 1],
  ['min', 60],
  ['h', 3_600],
] as const;
const UNITS_APART = [1, 2, 3, 5, 10, 20, 30];

type Point = readonly [atMs: number, perSecond: number];
type Curves = Readonly<Partial<Record<keyof typeof SERIES, readonly Point[]>>>;

export function traceChart(
  title: string,
  scenario: Scenario,
  entries: readonly TraceEntry[],
): string {
  const looks = entries.filter(({ cause }) => cause === 'time');
  const believed = looks.flatMap(({ atMs, belief }): Point[] => {
    const perSecond = perSecondIn(belief);
    return perSecond === undefined ? [] : [[atMs, perSecond]];
  });
  const curves: Curves = {
    allowed: looks.map(({ atMs }): Point => [atMs, allowedAt(scenario, atMs)]),
    sent: ratesOf(looks, 'sent'),
    accepted: ratesOf(looks, 'accepted'),
    rejected: ratesOf(looks, 'rejected'),
    ...(believed.length > 0 && { believed }),
  };
  const endMs = looks.at(-1)?.atMs ?? scenario.horizonMs;
  const shown = [...(curves.allowed ?? []), ...(curves.accepted ?? [])];
  const most = HEADROOM * Math.max(1e-6, ...shown.map(([, perSecond]) => perSecond));
  const x = (atMs: number) => PLOT.left + (atMs / endMs) * (PLOT.right - PLOT.left);
  const y = (perSecond: number) =>
    PLOT.bottom - Math.min(1, perSecond / most) * (PLOT.bottom - PLOT.top);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}" ${FONT} fill="${GREY}" font-size="11">`,
    text(PLOT.left, 18, title, 'font-size="14" font-weight="600"'),
    ...legend(curves),
    ...stepsTo(most, rateStepOf(most)).flatMap((rate) => [
      `<path d="M${PLOT.left} ${at(y(rate))}H${PLOT.right}" stroke="${GREY}" stroke-opacity="0.25"/>`,
      text(PLOT.left - 6, y(rate) + 4, `${Number(rate.toPrecision(2))}/s`, 'text-anchor="end"'),
    ]),
    ...timesTo(endMs).map(([atMs, said]) => {
      const anchor = x(atMs) > PLOT.right - 12 ? 'end' : 'middle';
      return text(x(atMs), PLOT.bottom + 18, said, `text-anchor="${anchor}"`);
    }),
    ...Object.entries(SERIES).flatMap(([name, { color, stroke }]) => {
      const points = Object.entries(curves).find(([other]) => other === name)?.[1] ?? [];
      const path = points.map(([atMs, rate]) => `${at(x(atMs))} ${at(y(rate))}`).join('L');
      return path === '' ? [] : [`<path d="M${path}" fill="none" stroke="${color}" ${stroke}/>`];
    }),
    '</svg>',
    '',
  ].join('\n');
}

/** The rate between two samples, drawn at the middle of their times. */
function ratesOf(
  looks: readonly TraceEntry[],
  figure: 'sent' | 'accepted' | 'rejected',
): readonly Point[] {
  return looks.slice(1).map((look, index): Point => {
    const last = looks[index] ?? look;
    const spanMs = Math.max(1e-9, look.atMs - last.atMs);
    return [(look.atMs + last.atMs) / 2, ((look[figure] - last[figure]) * SECOND_MS) / spanMs];
  });
}

/** Mean-size requests a second by the strictest limit; 0 in an outage. */
function allowedAt(scenario: Scenario, atMs: number): number {
  const { outageFromMs, outageMs, perMs } = scenario;
  if (atMs >= outageFromMs && atMs < outageFromMs + outageMs) return 0;
  const rates = limitSpecs(scenario).map((spec) => {
    if (spec.algorithm === 'cap') return perMs;
    if (spec.algorithm !== 'bucket') return spec.limit / spec.windowMs;
    return spec.unit === 'tokens' ? spec.perMs / MEAN_TOKENS : spec.perMs;
  });
  return SECOND_MS * Math.min(...rates) * changeOf(scenario).at(atMs);
}

/** The first numeric field `perSecond` of an estimate or of its parts. */
function perSecondIn(belief: unknown): number | undefined {
  if (typeof belief !== 'object' || belief === null) return undefined;
  if ('perSecond' in belief && typeof belief.perSecond === 'number') {
    return Number.isFinite(belief.perSecond) ? belief.perSecond : undefined;
  }
  for (const part of Object.values(belief)) {
    const found = perSecondIn(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

function legend(curves: Curves): string[] {
  const named = Object.entries(SERIES).filter(([name]) => name in curves);
  return named.flatMap(([, { color, text: label, stroke }], index) => {
    const left = PLOT.left + index * 92;
    return [
      `<path d="M${left} 34h20" stroke="${color}" ${stroke}/>`,
      text(left + 26, 38, label, ''),
    ];
  });
}

function stepsTo(most: number, step: number): number[] {
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, place) => place * step);
}

/** Rounds to 1, 2 or 5 times a power of ten. */
function rateStepOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / MOST_LINES));
  return power * ([1, 2, 5].find((factor) => most / (factor * power) <= MOST_LINES) ?? 10);
}

/** The marked times and their labels. */
function timesTo(endMs: number): (readonly [atMs: number, said: string])[] {
  for (const [unit, seconds] of TIME_UNITS) {
    const unitMs = seconds * SECOND_MS;
    const apart = UNITS_APART.find((units) => endMs / (units * unitMs) <= MOST_LINES);
    if (apart === undefined) continue;
    return stepsTo(endMs, apart * unitMs).map((atMs) => [atMs, `${atMs / unitMs} ${unit}`]);
  }
  return [];
}

function at(value: number): string {
  return value.toFixed(1);
}

function text(x: number, y: number, content: string, attributes: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${at(x)}" y="${at(y)}" ${attributes}>${escaped}</text>`;
}
