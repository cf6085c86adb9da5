/** A piece of text with one style. */
export interface Run {
  readonly text: string;
  readonly look: Look;
}

export type Look = 'plain' | 'strong' | 'faint' | 'good' | 'warn' | 'bad' | 'accent';

export type Line = readonly Run[];

const ESCAPE = String.fromCharCode(27);
/** The control sequences that the demo writes: styles, cursor up, and clearing what follows. */
const TOKEN = new RegExp(`${ESCAPE}\\[([?\\d;]*)([A-Za-z])|[\\r\\n]|[^${ESCAPE}\\r\\n]+`, 'g');

const LOOKS: Readonly<Record<string, Look>> = {
  '1': 'strong',
  '2': 'faint',
  '31': 'bad',
  '32': 'good',
  '33': 'warn',
  '36': 'accent',
  '90': 'faint',
};

/**
 * The content of a terminal after some output, with line breaks, carriage returns, cleared, full
 * and rewritten lines, and bold, faint and coloured text.
 */
export class Terminal {
  private readonly lines: Run[][] = [[]];
  /** The row of the cursor. */
  private row = 0;
  private look: Look = 'plain';
  /** Whether the next text replaces the line. */
  private isAtStart = false;
  private readonly columns: number;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(output: string): void {
    for (const [token, argument = '', command] of output.matchAll(TOKEN)) {
      if (token === '\n') this.startNext();
      else if (token === '\r') this.isAtStart = true;
      else if (command === 'm') this.look = LOOKS[argument] ?? 'plain';
      else if (command === 'K') this.clear();
      else if (command === 'A') this.row = Math.max(0, this.row - Number(argument || 1));
      else if (command === 'J') this.lines.splice(this.row, this.lines.length, []);
      else if (command === undefined) this.print(token);
    }
  }

  /** The lines so far; empty ones at the end are left out. */
  get screen(): readonly Line[] {
    const last = this.lines.findLastIndex((line) => line.length > 0);
    return this.lines.slice(0, last + 1).map((line) => [...line]);
  }

  private get line(): Run[] {
    this.lines[this.row] ??= [];
    return this.lines[this.row] ?? [];
  }

  private startNext(): void {
    this.row += 1;
    this.isAtStart = true;
    this.lines[this.row] ??= [];
  }

  private clear(): void {
    if (this.isAtStart) this.line.splice(0);
    this.isAtStart = false;
  }

  private print(text: string): void {
    this.clear();
    let left = text;
    for (;;) {
      const room = this.columns - this.line.reduce((sum, run) => sum + run.text.length, 0);
      this.line.push({ text: left.slice(0, room), look: this.look });
      left = left.slice(room);
      if (left === '') return;
      this.startNext();
      this.clear();
    }
  }
}
