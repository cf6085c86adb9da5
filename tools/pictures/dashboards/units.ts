const SCALES: readonly (readonly [least: number, divisor: number, unit: string])[] = [
  [1e9, 1e9, ' Bil'],
  [1e6, 1e6, ' Mil'],
  [1e4, 1e3, ' K'],
];
const BYTES = ['B', 'KiB', 'MiB', 'GiB'];

function trimmed(value: number, decimals: number | undefined): string {
  if (decimals !== undefined) return value.toFixed(decimals);
  return String(Number(value.toPrecision(3)));
}

function seconds(value: number): string {
  if (value === 0) return '0 s';
  if (value < 1) return `${trimmed(value * 1_000, undefined)} ms`;
  if (value < 60) return `${trimmed(value, undefined)} s`;
  if (value < 3_600) return `${trimmed(value / 60, undefined)} mins`;
  return `${trimmed(value / 3_600, undefined)} hours`;
}

/** A duration in whole units, the largest first: `1m 20s`. */
function duration(value: number): string {
  const whole = Math.round(value);
  const parts = [
    [Math.floor(whole / 3_600), 'h'],
    [Math.floor(whole / 60) % 60, 'm'],
    [whole % 60, 's'],
  ] as const;
  const said = parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount}${unit}`);
  return said.length === 0 ? '0s' : said.slice(0, 2).join(' ');
}

function bytes(value: number): string {
  let amount = value;
  let unit = 0;
  while (amount >= 1_024 && unit < BYTES.length - 1) {
    amount /= 1_024;
    unit += 1;
  }
  return `${trimmed(amount, undefined)} ${BYTES[unit]}`;
}

function short(value: number, decimals: number | undefined): string {
  const scale = SCALES.find(([least]) => Math.abs(value) >= least);
  if (scale === undefined) return trimmed(value, decimals);
  return `${trimmed(value / scale[1], undefined)}${scale[2]}`;
}

/** A value in one of Grafana's units, as Grafana writes it. */
export function inUnit(value: number, unit = 'none', decimals?: number): string {
  switch (unit) {
    case 's':
      return seconds(value);
    case 'dtdurations':
      return duration(value);
    case 'bytes':
      return bytes(value);
    case 'Bps':
    case 'binBps':
      return `${bytes(value)}/s`;
    case 'percentunit':
      return `${trimmed(value * 100, decimals)}%`;
    case 'reqps':
      return `${short(value, decimals)} req/s`;
    case 'ops':
      return `${short(value, decimals)} ops/s`;
    case 'cps':
      return `${short(value, decimals)} c/s`;
    case 'none':
    case 'short':
      return short(value, decimals);
    default:
      return `${short(value, decimals)} (unit ${unit})`;
  }
}
