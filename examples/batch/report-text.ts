import type { GateKind } from 'headgate';
import type { Percentiles, Report } from './report.ts';
import type { AdaptiveRateReport, LimitsReport } from './report-limits.ts';

/** Emphasises text on a terminal, not in a file. */
export interface Style {
  strong(text: string): string;
  faint(text: string): string;
}

export const PLAIN: Style = { strong: (text) => text, faint: (text) => text };

const LABEL = 18;
const FIGURE = 9;

interface WaitRow {
  readonly gate: GateKind;
  readonly label: string;
  readonly note: string;
  /** Gates that every run has: they are shown even if no request waited. */
  readonly isAlways: boolean;
}

const WAIT_ROWS: readonly WaitRow[] = [
  always('concurrency', 'concurrency', 'waited for a slot'),
  always('byteBudget', 'byte budget', 'waited for bytes in flight to come back'),
  always('backoff', 'backoff', "waited after a 429, its own or another's"),
  ifAny('rateLimit', 'rate limit', 'waited for requests or tokens a minute'),
  ifAny('pace', 'pace', 'waited for the turn that the rate or the pace gave it'),
  ifAny('circuitBreaker', 'circuit breaker', 'waited for a provider that failed to be well again'),
  always('retry', 'retry', 'waited to be sent again after a server error'),
];

function always(gate: GateKind, label: string, note: string): WaitRow {
  return { gate, label, note, isAlways: true };
}

function ifAny(gate: GateKind, label: string, note: string): WaitRow {
  return { gate, label, note, isAlways: false };
}

/** The report as text: blocks of aligned lines, and the failures. */
export function formatReport(report: Report, style: Style): string {
  const { goodput, waits, attempts, rejected } = report;
  const count = (label: string, value: number, note = '') =>
    row(label, [String(value)], note, style);
  const time = (label: string, { p50Ms, p99Ms }: Percentiles, note: string) =>
    row(label, [formatMs(p50Ms), formatMs(p99Ms)], note, style);
  const share = (part: number) => `${Math.round(part * 100)} %`;
  const lines = [
    style.strong(headline(report)),
    '',
    count('succeeded', report.succeeded),
    count('failed', report.failed),
    ...(report.unfinished > 0
      ? [count('unfinished', report.unfinished, 'the run ended before they had a result')]
      : []),
    count('attempts', attempts, 'calls to the provider'),
    count('429s', rejected, attempts > 0 ? `${share(rejected / attempts)} of the attempts` : ''),
    ...(report.tokens === null
      ? []
      : [count('tokens', report.tokens, 'of prompts and answers, as the server counts')]),
    '',
    style.strong(row('time of a request', ['p50', 'p99'], '', PLAIN)),
    ...WAIT_ROWS.filter(({ gate, isAlways }) => isAlways || waits[gate].requests > 0).map(
      ({ gate, label, note }) => time(label, waits[gate], note),
    ),
    time('latency', report.latency, 'in calls, of all its attempts'),
    time('total', report.total, 'from arrival to result'),
    '',
    ...limitLines(report.limits, style),
    '',
    row('goodput', [goodput.requestsPerSecond.toFixed(1)], 'requests succeeded a second', style),
  ];
  if (goodput.capacityPerSecond !== null && goodput.share !== null) {
    const capacity = goodput.capacityPerSecond.toFixed(1);
    lines.push(row('capacity', [capacity], "what the provider's limits allow", style));
    const burst = goodput.share > 1 ? '; the burst that the limits let through is extra' : '';
    lines.push(row('used', [share(goodput.share)], `goodput / capacity${burst}`, style));
  }
  return `${[...lines, ...failureLines(report)].join('\n')}\n`;
}

function limitLines(limits: LimitsReport, style: Style): string[] {
  const { concurrency, concurrencyAtEnd, maxBytes, rate, rateLimit } = limits;
  const { intervalMs, circuitBreaker } = limits;
  const adapted = concurrencyAtEnd === concurrency ? '' : `; ${concurrencyAtEnd} at the end`;
  const line = (label: string, figures: readonly string[], note: string) =>
    row(label, figures, note, style);
  return [
    style.strong(row('limits in force', ['limit', 'used'], '', PLAIN)),
    line('concurrency', [String(concurrency)], `requests in flight${adapted}`),
    line('byte budget', [formatBytes(maxBytes)], 'in flight'),
    ...(rate === null ? [] : [line('rate', [perSecond(rate.perSecond)], rateNote(rate))]),
    ...Object.entries(rateLimit).map(([name, { limit, windowMs, used }]) =>
      line(
        name,
        [String(limit), String(used)],
        `in ${formatMs(windowMs)}; used: in the last of them`,
      ),
    ),
    ...(intervalMs > 0 ? [line('pace', [formatMs(intervalMs)], 'between two attempts')] : []),
    ...(circuitBreaker === null ? [] : [line('circuit breaker', [circuitBreaker], 'at the end')]),
  ];
}

const SOURCES: Readonly<Record<AdaptiveRateReport['source'], string>> = {
  start: 'nothing was known yet',
  limit: 'as your limits allow',
  headers: "by the provider's headers",
  learned: 'learned from 429s',
};

function rateNote({ source, ceilingPerSecond }: AdaptiveRateReport): string {
  const ceiling =
    ceilingPerSecond === null ? '' : `; at the last of them it took ${perSecond(ceilingPerSecond)}`;
  return `requests a second at the end, ${SOURCES[source]}${ceiling}`;
}

function perSecond(rate: number | null): string {
  return rate === null ? 'any' : rate.toFixed(1);
}

/** `512 B`, `64 KiB`, `5 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [amount, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB'];
  return `${Number(amount.toFixed(1))} ${unit}`;
}

/** A duration with about three digits: `0`, `820 ms`, `4.21 s`, `75 s`. */
export function formatMs(ms: number): string {
  if (ms < 0.5) return '0';
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  return `${(ms / 1000).toFixed(ms < 9_995 ? 2 : ms < 99_950 ? 1 : 0)} s`;
}

function headline({ ended, prompts, elapsedMs }: Report): string {
  const time = formatMs(elapsedMs);
  if (ended === 'complete') return `${prompts} prompts in ${time}`;
  const why = ended === 'error' ? 'ended early' : `stopped by ${ended}`;
  return `${prompts} prompts, ${why} after ${time}`;
}

function row(label: string, figures: readonly string[], note: string, style: Style): string {
  const cells = figures.map((figure) => figure.padStart(FIGURE)).join('');
  const padded = `  ${label.padEnd(LABEL)}${cells}`;
  return note === '' ? padded : `${padded.padEnd(LABEL + 2 * FIGURE + 2)}  ${style.faint(note)}`;
}

function failureLines({ failures, failed }: Report): string[] {
  if (failures.length === 0) return [];
  const more = failed - failures.reduce((sum, { count }) => sum + count, 0);
  return [
    '',
    'failed:',
    ...failures.map(({ ids, count, error }) => {
      const others = count > ids.length ? ` and ${count - ids.length} more` : '';
      return `  ${ids.join(', ')}${others}: ${error}`;
    }),
    ...(more > 0 ? [`  and ${more} more, with other errors`] : []),
  ];
}
