import { describe, expect, it } from 'vitest';
import { framesOf } from '../../docs/src/picture/frames.ts';
import { svgOf } from '../../docs/src/picture/svg.ts';
import { Terminal } from '../../docs/src/picture/terminal.ts';

function shownBy(output: string, columns = 80): string[] {
  const terminal = new Terminal(columns);
  terminal.write(output);
  return terminal.screen.map((line) => line.map(({ text }) => text).join(''));
}

describe('the terminal of the picture', () => {
  it('rewrites a line, and clears it', () => {
    expect(shownBy('a\r\nlong\r\u001b[Kb')).toEqual(['a', 'b']);
    expect(shownBy('a\nlong\r\u001b[K')).toEqual(['a']);
  });

  it('wraps what is longer than it is wide', () => {
    expect(shownBy('abcdefg\nh', 3)).toEqual(['abc', 'def', 'g', 'h']);
  });

  it('draws lines anew, and hides no text for a hidden cursor', () => {
    expect(shownBy('a\n\u001b[?25lb\nc\n\u001b[2A\u001b[0Jd\n')).toEqual(['a', 'd']);
    expect(shownBy('a\nlong\nc\n\u001b[3A\rd\u001b[K\n\u001b[K\n\u001b[0J')).toEqual(['d']);
  });

  it('knows colours', () => {
    const terminal = new Terminal(80);
    terminal.write('\u001b[31ma\u001b[39m\u001b[90mb\u001b[39mc');
    expect(terminal.screen[0]?.map(({ look }) => look)).toEqual(['bad', 'faint', 'plain']);
  });

  it('knows bold and faint text', () => {
    const terminal = new Terminal(80);
    terminal.write('a\u001b[1mb\u001b[22m\u001b[2mc\u001b[22md');
    expect(terminal.screen).toEqual([
      [
        { text: 'a', look: 'plain' },
        { text: 'b', look: 'strong' },
        { text: 'c', look: 'faint' },
        { text: 'd', look: 'plain' },
      ],
    ]);
  });
});

describe('the picture', () => {
  const outputs = [
    { atMs: 0, text: '$ run\n' },
    { atMs: 100, text: '1 of 2' },
    { atMs: 150, text: '\r\u001b[K1.5 of 2' },
    { atMs: 1_000, text: '\r\u001b[K<done>\n' },
  ];
  const svg = svgOf(framesOf(outputs, 80, 100), 80);

  it('shows a line while it is there, and at the end what is there then', () => {
    expect(svg).toContain('>$ run</text>');
    expect(svg).toMatch(/visibility="hidden"><text[^>]*>1 of 2</);
    expect(svg).toMatch(/visibility="visible"><text[^>]*>&lt;done&gt;</);
    expect(svg).not.toContain('1.5 of 2'); // it came too soon after the last frame
  });

  it('keeps spaces that are drawn as one', () => {
    const padded = svgOf(framesOf([{ atMs: 0, text: 'a  b c \n' }], 80, 100), 80);
    expect(padded).toContain('>a\u00a0\u00a0b c\u00a0</text>');
  });

  it('is well-formed', () => {
    for (const tag of ['g', 'text', 'svg']) {
      const opened = svg.match(new RegExp(`<${tag}[ >]`, 'g'))?.length;
      expect(svg.match(new RegExp(`</${tag}>`, 'g'))).toHaveLength(opened ?? 0);
    }
    expect(svg).not.toMatch(/NaN|undefined/);
  });
});
