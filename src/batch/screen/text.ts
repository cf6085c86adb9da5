import { styleText } from 'node:util';

/** Breaks a sentence between words, into lines of at most `width` columns. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > width && line !== '') {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** Numbers and times as people read them. */

export function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** `1,234`, `45.6 k`, `12.1 M`. */
export function short(value: number): string {
  if (value < 10_000) return count(value);
  if (value < 1_000_000) return `${(value / 1_000).toFixed(1)} k`;
  if (value < 1_000_000_000) return `${(value / 1_000_000).toFixed(1)} M`;
  return `${(value / 1_000_000_000).toFixed(1)} G`;
}

/** `8.2/s`, or `30/min` for less than one a second. */
export function rate(perSecond: number): string {
  if (perSecond >= 100) return `${count(perSecond)}/s`;
  if (perSecond === 0) return '0/s';
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  return `${(perSecond * 60).toFixed(1)}/min`;
}

/** `45 s`, `3 min 20 s`, `1 h 54 min`, `2 d 3 h`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10)
    return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Two decimals, or as many as a small amount needs. */
export function money(amount: number): string {
  if (amount === 0) return '0';
  if (amount >= 0.1) return amount.toFixed(2);
  return amount.toPrecision(2);
}

/** A part of a whole in per cent; `100 %` only for all of it. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  const value = (part / whole) * 100;
  if (value === 0 || value === 100) return `${value} %`;
  return `${Math.min(value, 99.9).toFixed(value < 1 ? 2 : 1)} %`;
}

export function plural(amount: number, one: string, many = `${one}s`): string {
  return `${count(amount)} ${amount === 1 ? one : many}`;
}

type Paint = (text: string) => string;

/** The colours and styles of the screen. */
export interface Style {
  readonly strong: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly warn: Paint;
  readonly bad: Paint;
  readonly accent: Paint;
}

const same: Paint = (text) => text;

export const PLAIN: Style = {
  strong: same,
  faint: same,
  good: same,
  warn: same,
  bad: same,
  accent: same,
};

/** Styles text without the check of `styleText`, which looks at the process's own output. */
const painted = (format: Parameters<typeof styleText>[0]): Paint => {
  return (text) => styleText(format, text, { validateStream: false });
};

export const COLOURS: Style = {
  strong: painted('bold'),
  faint: painted('gray'),
  good: painted('green'),
  warn: painted('yellow'),
  bad: painted('red'),
  accent: painted('cyan'),
};
