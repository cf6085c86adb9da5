import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { describe, expect, it, vi } from 'vitest';
import { Terminal } from '../../../docs/src/picture/terminal.ts';
import { frameOf } from '../../../src/batch/screen/frame.ts';
import { formatReport } from '../../../src/batch/screen/report.ts';
import { plainLine, statusOf } from '../../../src/batch/screen/status.ts';
import { openTerminal } from '../../../src/batch/screen/terminal.ts';
import { COLOURS, PLAIN } from '../../../src/batch/screen/text.ts';
import { STATES } from './states.ts';

const TITLE = {
  input: 'prompts/part-*.jsonl.gz',
  output: 'results/2026-11-22-gpt-5-mini.jsonl',
  target: 'gpt-5-mini at api.openai.com',
};

describe('the screen', () => {
  for (const columns of [20, 60, 80, 140]) {
    it(`has no line that wraps at ${columns} columns, in any state, coloured or not`, () => {
      for (const [name, state] of Object.entries(STATES)) {
        for (const style of [PLAIN, COLOURS]) {
          for (const line of frameOf(state, TITLE, columns, style)) {
            const text = stripVTControlCharacters(line);
            expect(stringWidth(text), `${name}: ${text}`).toBeLessThan(columns);
          }
        }
      }
    });
  }

  it.for([
    ['starting', 'Checking the input before anything is sent: 34,000 lines'],
    ['running', 'Nothing holds requests back: 37 in flight'],
    ['held', "Requests are held by the provider's 500 requests/min"],
    ['throttled', 'The provider answers 429: the run sends at most 4.2/s, until it accepts more'],
    ['workers', 'Waiting for workers: 241 in the queue, 12 at work'],
    ['no worker', '0 at work. There is no worker: start headgate work'],
    ['outage', 'The server has not answered for 2 min 14 s.'],
    ['draining', 'Stopping. Now 37 answers still to come; Ctrl-C again ends at once'],
    ['over budget', 'Stopping: the next request might cost more than is left of --max-cost 25'],
  ])('says of a run that is %s what it does', ([name = '', says], _test) => {
    const state = STATES[name];
    if (state === undefined) throw new Error(name);
    const frame = frameOf(state, TITLE, 140, PLAIN).join('\n');
    expect(frame).toContain(says);
  });

  it('speaks of 429s only if there were any: a 503 slows a run down too', () => {
    const { throttled } = STATES;
    if (throttled === undefined) throw new Error('throttled');
    const { text } = statusOf({ ...throttled, rejected: 0 });
    expect(text).toBe(
      'The provider rejects requests: the run sends at most 4.2/s, until it accepts more',
    );
  });

  it('has figures in one column where it is narrow, in two where it is wide', () => {
    const { held } = STATES;
    if (held === undefined) throw new Error('held');
    const narrow = frameOf(held, TITLE, 60, PLAIN);
    expect(narrow).toContain('done      42,769 and 312 before');
    expect(narrow).toContain('speed     8.2/s (told 8.3/s)');
    expect(narrow).toContain('cost      9.86, about 23.04 in all');
    expect(narrow).toContain('budget    25.00');
    const wide = frameOf(held, TITLE, 100, PLAIN);
    expect(wide.find((line) => line.startsWith('done'))).toMatch(
      /^done {6}42,769 and 312 before {2,}429s/,
    );
  });

  it('begins with the progress and what holds it where there are few rows', () => {
    const { held, starting } = STATES;
    if (held === undefined || starting === undefined) throw new Error('held, starting');
    const whole = frameOf(held, TITLE, 80, PLAIN);
    expect(frameOf(held, TITLE, 80, PLAIN, whole.length + 1)).toEqual(whole);
    const [bar, status, ...figures] = frameOf(held, TITLE, 80, PLAIN, whole.length);
    expect(bar).toMatch(/% {2}[\d,]+ of [\d,]+$/);
    expect(status).toBe("Requests are held by the provider's 500 requests/min");
    expect(figures).toContain(whole.find((line) => line.startsWith('done')));
    expect(figures).not.toContain('');
    expect(frameOf(starting, TITLE, 80, PLAIN, 3)).toEqual([
      'Checking the input before anything is sent: 34,000 lines',
    ]);
  });

  it('is drawn less often where a terminal is slow to take it', () => {
    const { held } = STATES;
    if (held === undefined) throw new Error('held');
    vi.useFakeTimers();
    try {
      let now = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => now);
      let writes = 0;
      let slowMs = 0;
      const write = () => {
        writes += 1;
        now += slowMs;
      };
      const screen = openTerminal({ isTTY: true, write }, () => held, TITLE, PLAIN);
      writes = 0;
      vi.advanceTimersByTime(1_200);
      expect(writes).toBe(10);
      slowMs = 50;
      vi.advanceTimersByTime(120);
      writes = 0;
      vi.advanceTimersByTime(10_000);
      expect(writes).toBe(10);
      slowMs = 60_000;
      vi.advanceTimersByTime(1_000);
      writes = 0;
      vi.advanceTimersByTime(10_000);
      expect(writes).toBe(2);
      screen.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.restoreAllMocks();
      vi.useRealTimers();
    }
  });

  it('is drawn in its place, and taken away', () => {
    const { held } = STATES;
    if (held === undefined) throw new Error('held');
    const written: string[] = [];
    const out = { isTTY: true, columns: 80, write: (text: string) => written.push(text) };
    openTerminal(out, () => held, TITLE, PLAIN).close();
    const lines = frameOf(held, TITLE, 80, PLAIN);
    expect(written).toEqual([
      '\u001b[?25l',
      `${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[0J`,
      `\u001b[${lines.length}A\r\u001b[0J\u001b[?25h`,
    ]);
  });
});

describe('a terminal', () => {
  const { held } = STATES;
  const drawAt = (sizes: readonly { columns: number; rows: number }[]) => {
    vi.useFakeTimers();
    if (held === undefined) throw new Error('held');
    const written: string[] = [];
    const out = { isTTY: true, ...sizes[0], write: (text: string) => written.push(text) };
    const screen = openTerminal(out, () => held, TITLE, PLAIN);
    for (const size of sizes.slice(1)) {
      Object.assign(out, size);
      vi.advanceTimersByTime(150);
    }
    screen.close();
    vi.useRealTimers();
    return written;
  };

  it('shows whole lines of two frames, however much of a write has arrived', () => {
    const size = { columns: 80, rows: 50 };
    const [, first = '', second = ''] = drawAt([size, size]);
    const terminal = new Terminal(80);
    const rows = () => terminal.screen.map((line) => line.map(({ text }) => text).join(''));
    terminal.write(first);
    const before = rows();
    for (const line of second.split(/(?<=\n)/)) {
      terminal.write(line);
      expect(rows()).toEqual(before);
    }
  });

  it('that is lower than the frame gets only rows that can be erased again', () => {
    const [, frame = '', erased = ''] = drawAt([{ columns: 80, rows: 6 }]);
    expect(frame.match(/\n/g)).toHaveLength(5);
    expect(erased).toContain('\u001b[5A');
  });

  it('that becomes narrower has all rows erased into which the lines were broken', () => {
    const [, wide = '', narrow = ''] = drawAt([
      { columns: 80, rows: 50 },
      { columns: 40, rows: 50 },
    ]);
    const lines = wide.split('\n').slice(0, -1);
    const rows = lines.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / 40)),
      0,
    );
    expect(rows).toBeGreaterThan(lines.length);
    expect(narrow.startsWith(`\u001b[${rows}A`)).toBe(true);
  });
});

describe('a line of the log', () => {
  it('says that lines with results are passed over, until one without is found', () => {
    const { held } = STATES;
    if (held === undefined) throw new Error('held');
    const before = { ...held, doneBefore: 70_000, ok: 0, failed: 0, attempts: 0, rejected: 0 };
    expect(plainLine({ ...before, inFlight: 0, waiting: 0 })).toContain(
      '| Passing over lines that have a result',
    );
    expect(plainLine({ ...before, inFlight: 0 })).toContain('| Sending the first requests');
  });

  it('has the same figures in one line', () => {
    const { held } = STATES;
    if (held === undefined) throw new Error('held');
    expect(plainLine(held)).toBe(
      "43,120 of 100,000 (43.1 %) | 8.2/s | about 1 h 54 min left | 39 failed | 12 x 429 | cost 9.86 | Requests are held by the provider's 500 requests/min",
    );
  });
});

describe('the report', () => {
  it('says the result of the run, how many lines are left, and how to continue', () => {
    const budget = STATES['over budget'];
    if (budget === undefined) throw new Error('over budget');
    const report = { ...budget, output: 'out.jsonl', left: 56_880, tornBytes: 120 };
    expect(formatReport(report, Number.POSITIVE_INFINITY, PLAIN)).toBe(
      [
        'stopped   the next request might cost more than is left of --max-cost 25: raise it to go on',
        'done      43,081 of 100,000, 312 of them in earlier runs',
        'failed    39; --retry-failed sends them again',
        "              27  400 context_length_exceeded: This model's maximum context length is 128000 tokens, however you requested 131211",
        '               9  ETIMEDOUT: no answer from https://api.openai.com/v1 within 600 s',
        '               3  400 content_filter: Der Text wurde abgelehnt 拒否されました',
        'left      56,880: the same command goes on where it stopped',
        'time      1 h 27 min, 8.2/s',
        '429s      12 of 42,861 calls (0.03 %); 53 calls were repeats',
        'tokens    12.1 M in, 3.4 M out',
        'cost      24.96 for all results in the file',
        'mended    half a line that an earlier run had left was cut off',
        'results   out.jsonl',
        '',
      ].join('\n'),
    );
  });
});
