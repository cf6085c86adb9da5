export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** Colours of Grafana's dark theme. */
export const INK = '#CCCCDC';
export const QUIET = '#8E8E9C';

const round = (value: number) => Math.round(value * 10) / 10;

function escaped(said: string): string {
  return said.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

export function rect({ x, y, w, h }: Box, fill: string, stroke = 'none', opacity = 1): string {
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, w))}" height="${round(Math.max(0, h))}" fill="${fill}" stroke="${stroke}" fill-opacity="${opacity}"/>`;
}

export function text(
  x: number,
  y: number,
  said: string,
  colour: string,
  size: number,
  anchor: 'start' | 'middle' | 'end' = 'middle',
  weight = 400,
): string {
  return `<text x="${round(x)}" y="${round(y)}" fill="${colour}" font-size="${round(size)}" text-anchor="${anchor}" font-weight="${weight}">${escaped(said)}</text>`;
}

export function line(
  points: readonly (readonly [number, number])[],
  colour: string,
  width: number,
  dash = '',
): string {
  const path = points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="${width}"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}/>`;
}

export function area(
  points: readonly (readonly [number, number])[],
  colour: string,
  opacity: number,
): string {
  const path = points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
  return `<polygon points="${path}" fill="${colour}" fill-opacity="${opacity}"/>`;
}

export function picture(title: string, w: number, h: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" font-family="Inter, Helvetica, Arial, sans-serif"><title>${escaped(title)}</title>${rect({ x: 0, y: 0, w, h }, '#111217')}${content}</svg>\n`;
}
