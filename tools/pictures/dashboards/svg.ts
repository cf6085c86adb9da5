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
  const edge = stroke === 'none' ? '' : ` stroke="${stroke}"`;
  const shine = opacity === 1 ? '' : ` fill-opacity="${opacity}"`;
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, w))}" height="${round(Math.max(0, h))}" fill="${fill}"${edge}${shine}/>`;
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
  const place = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  const stroke = weight === 400 ? '' : ` font-weight="${weight}"`;
  return `<text x="${round(x)}" y="${round(y)}" fill="${colour}" font-size="${round(size)}"${place}${stroke}>${escaped(said)}</text>`;
}

/**
 * A path of relative steps, which is shorter than absolute points. Points within horizontal lines
 * are left out.
 */
function pathOf(points: readonly (readonly [number, number])[]): string {
  const rounded = points.map(([x, y]) => [Math.round(x), Math.round(y)] as const);
  const kept = rounded.filter(([, y], at) => {
    const [before, after] = [rounded[at - 1], rounded[at + 1]];
    return before?.[1] !== y || after?.[1] !== y;
  });
  let [left, top] = [0, 0];
  return kept
    .map(([x, y], at) => {
      const step = `${at === 0 ? 'M' : 'l'}${x - left} ${y - top}`;
      [left, top] = [x, y];
      return step;
    })
    .join('');
}

export function line(
  points: readonly (readonly [number, number])[],
  colour: string,
  width: number,
  dash = '',
): string {
  return `<path d="${pathOf(points)}" fill="none" stroke="${colour}" stroke-width="${width}"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}/>`;
}

export function area(
  points: readonly (readonly [number, number])[],
  colour: string,
  opacity: number,
): string {
  return `<path d="${pathOf(points)}z" fill="${colour}" fill-opacity="${opacity}"/>`;
}

export function picture(title: string, w: number, h: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" font-family="Inter, Helvetica, Arial, sans-serif"><title>${escaped(title)}</title>${rect({ x: 0, y: 0, w, h }, '#111217')}${content}</svg>\n`;
}
