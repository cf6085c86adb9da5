import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Field } from './fields.ts';
import { type Box, INK, QUIET, rect, text } from './svg.ts';

/** A time marked in all graphs. */
export interface Mark {
  readonly time: number;
  readonly colour: string;
}

/** The data of a panel. */
export interface Drawn {
  readonly panel: Panel;
  readonly fields: readonly Field[];
  readonly marks: readonly Mark[];
  readonly from: number;
  readonly to: number;
}

export function nothing(said = 'No data', box: Box): string {
  return text(box.x + box.w / 2, box.y + box.h / 2, said, QUIET, 14);
}

export function legendLine(
  entries: readonly (readonly [name: string, colour: string])[],
  box: Box,
): string {
  let x = box.x;
  let y = box.y + box.h - 20;
  const drawn: string[] = [];
  for (const [name, colour] of entries) {
    const width = name.length * 6.3 + 26;
    if (x + width > box.x + box.w && x > box.x) {
      x = box.x;
      y += 15;
    }
    drawn.push(rect({ x, y: y - 6, w: 14, h: 4 }, colour), text(x + 19, y, name, INK, 11, 'start'));
    x += width;
  }
  return drawn.join('');
}
