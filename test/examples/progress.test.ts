import { createLimiter } from 'headgate';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Progress, type ProgressState, progressLine } from '../../examples/batch/progress.ts';

const idle = createLimiter().snapshot();
const STATE: ProgressState = {
  done: 128,
  prompts: 320,
  active: 10,
  rejected: 37,
  reported: { remaining: 192, ratePerSecond: 14.2 },
  gates: {
    ...idle,
    mode: 'throttled',
    binding: 'backoff',
    waiting: 181,
    concurrency: { ...idle.concurrency, waiting: 171 },
    byteBudget: { ...idle.byteBudget, waiting: 8 },
    backoff: { ...idle.backoff, waiting: 2, waitsFor: 'backoff' },
  },
};

describe('progressLine', () => {
  it('says it all in 80 columns', () => {
    expect(progressLine(STATE, 80)).toBe(
      '128/320  in flight 10  waiting 181 for backoff  throttled  429s 37  ETA 14s',
    );
  });

  it('tells the queues apart where there is room', () => {
    const queues = 'slot 171, bytes  8, backoff  2';
    expect(progressLine(STATE, 120)).toBe(
      `128/320  in flight 10  waiting 181 for backoff  ${queues}  throttled  429s 37  ETA 14s`,
    );
  });

  describe('with a rate that adapts', () => {
    const known = createLimiter({ adaptive: 'rate' }).snapshot().adaptive;
    if (known === undefined || !('origin' in known)) throw new Error('no rate');
    const lineOf = (changes: Partial<typeof known>, columns: number) => {
      const adaptive = { ...known, perSecond: 11.88, origin: 'learned', ...changes } as const;
      return progressLine({ ...STATE, gates: { ...STATE.gates, adaptive } }, columns);
    };

    it('shows it in place of the mode', () => {
      const start = '128/320  in flight 10  waiting 181 for backoff';
      expect(lineOf({}, 80)).toBe(`${start}     11.9/s  429s 37  ETA 14s`);
      expect(lineOf({ ceilingPerSecond: 12 }, 200)).toBe(
        `${start}  slot 171, bytes  8, backoff  2     11.9/s learned  ceiling 12.0   429s 37  ETA 14s`,
      );
      expect(lineOf({ origin: 'headers' }, 200)).toContain(' 11.9/s headers  ceiling -     ');
    });

    it('says where nothing is let in', () => {
      expect(lineOf({ isOut: true }, 80)).toContain('backoff     outage  429s');
      expect(lineOf({ isOut: true }, 200)).toContain(' 11.9/s outage ');
    });

    it('shows the mode as long as nothing bounds it', () => {
      expect(lineOf({ perSecond: Number.POSITIVE_INFINITY }, 200)).toContain('  throttled  429s');
    });
  });

  it.each([
    ['rateLimit', 'rate'],
    ['pace', 'pace'],
    ['circuitBreaker', 'circuit'],
  ] as const)('calls the last queue by what holds it back: %s', (waitsFor, word) => {
    const backoff = { ...STATE.gates.backoff, waitsFor };
    const gates = { ...STATE.gates, binding: waitsFor, backoff };
    const line = progressLine({ ...STATE, gates }, 120);
    expect(line).toContain(`waiting 181 for ${word}`);
    expect(line).toMatch(new RegExp(`, +${word}  2 `));
  });

  it('names no gate where nobody waits', () => {
    const line = progressLine({ ...STATE, gates: idle }, 120);
    expect(line).toMatch(/waiting {3}0 for {10}slot {3}0, bytes {2}0, backoff {2}0 {2}normal/);
  });

  it('leaves the last column free, so that no terminal breaks the line', () => {
    for (const columns of [0, 1, 2, 20, 79, 99, 100]) {
      expect(progressLine(STATE, columns).length).toBeLessThanOrEqual(Math.max(0, columns - 1));
    }
  });

  it('knows no ETA before there is a rate', () => {
    const reported = { remaining: 320, ratePerSecond: undefined };
    expect(progressLine({ ...STATE, reported }, 80)).toContain('ETA -');
    expect(progressLine({ ...STATE, reported: undefined }, 80)).toContain('ETA -');
  });
});

describe('Progress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('rewrites one line on a terminal, and clears it', () => {
    const written: string[] = [];
    const out = { isTTY: true, columns: 20, write: (text: string) => written.push(text) };
    const progress = new Progress(out, () => STATE);
    vi.advanceTimersByTime(250);
    progress.note('hello');
    progress.stop();
    const line = '\r\u001b[K128/320  in flight ';
    expect(written).toEqual([line, line, '\r\u001b[K', 'hello\n', '\r\u001b[K']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('writes whole lines elsewhere, one a second', () => {
    const written: string[] = [];
    const progress = new Progress({ write: (text) => written.push(text) }, () => STATE);
    vi.advanceTimersByTime(2_500);
    progress.stop();
    expect(written).toEqual(Array(2).fill(`${progressLine(STATE, Number.POSITIVE_INFINITY)}\n`));
  });
});
