import { styleText } from 'node:util';

type Paint = (text: string) => string;

/** How parts of the screen look. */
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

/** `styleText` asks the process's own output whether it takes colours, unless it is told not to. */
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
