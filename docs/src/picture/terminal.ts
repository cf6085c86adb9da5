/** A stretch of text of one look. */
export interface Run {
  readonly text: string;
  readonly look: Look;
}

export type Look = 'plain' | 'strong' | 'faint';

export type Line = readonly Run[];

const ESCAPE = String.fromCharCode(27);
/** The sequences that the demo writes: looks, and to clear the rest of a line. */
const TOKEN = new RegExp(`${ESCAPE}\\[([\\d;]*)([A-Za-z])|[\\r\\n]|[^${ESCAPE}\\r\\n]+`, 'g');

const LOOKS: Readonly<Record<string, Look>> = { '1': 'strong', '2': 'faint' };

/** What a terminal shows after some output: line breaks, returns, cleared and full lines, bold and faint text. */
export class Terminal {
  private readonly lines: Run[][] = [[]];
  private look: Look = 'plain';
  /** The next text replaces the line. */
  private isAtStart = false;
  private readonly columns: number;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(output: string): void {
    for (const [token, argument = '', command] of output.matchAll(TOKEN)) {
      if (token === '\n') this.lines.push([]);
      else if (token === '\r') this.isAtStart = true;
      else if (command === 'm') this.look = LOOKS[argument] ?? 'plain';
      else if (command === 'K') this.clear();
      else if (command === undefined) this.print(token);
      if (token === '\n') this.isAtStart = false;
    }
  }

  /** The lines so far; empty ones at the end are left out. */
  get screen(): readonly Line[] {
    const last = this.lines.findLastIndex((line) => line.length > 0);
    return this.lines.slice(0, last + 1).map((line) => [...line]);
  }

  private clear(): void {
    if (this.isAtStart) this.lines.at(-1)?.splice(0);
    this.isAtStart = false;
  }

  private print(text: string): void {
    this.clear();
    let left = text;
    while (left !== '') {
      const line = this.lines.at(-1) ?? [];
      const room = this.columns - line.reduce((sum, run) => sum + run.text.length, 0);
      line.push({ text: left.slice(0, room), look: this.look });
      left = left.slice(room);
      if (left !== '') this.lines.push([]);
    }
  }
}
