import { describe, expect, it } from 'vitest';
import { optionRows, optionTable } from '../../docs/src/option-table.ts';
import { ROWS } from '../../src/options/limiter-config.ts';

const rowOf = (path: string) => optionRows().find(({ option }) => option === `\`${path}\``);

describe('the rows of the documentation', () => {
  it('have every option once, in the order of the table', () => {
    const paths = optionRows().map(({ option }) => option);
    expect(paths).toEqual(ROWS.map(({ path }) => `\`${path}\``));
    expect(new Set(paths).size).toBe(paths.length);
    expect(new Set(optionRows().map(({ env }) => env)).size).toBe(paths.length);
  });

  it('say name, variable, default, unit and what it does', () => {
    expect(rowOf('backoff.throttledForMs')).toEqual({
      option: '`backoff.throttledForMs`',
      env: '`HEADGATE_BACKOFF_THROTTLED_FOR_MS`',
      default: '10,000',
      unit: 'ms',
      what: 'time that throttled mode lasts after the backoff',
    });
    expect(rowOf('backoff.backoffMs')?.default).toBe('1000');
    expect(rowOf('maxBytes')?.default).toBe('5,242,880');
    expect(rowOf('pace.jitter')?.default).toBe('0.5');
    expect(rowOf('limits.<name>.windowMs')).toMatchObject({
      env: '`HEADGATE_LIMITS_<NAME>_WINDOW_MS`',
      default: 'required',
    });
    expect(rowOf('onLimit')).toMatchObject({ default: '`"wait"`', unit: '`"wait"`, `"fail"`' });
    expect(rowOf('refundRejected')).toMatchObject({ default: '`false`', unit: '`true`, `false`' });
    expect(rowOf('circuitBreaker')).toMatchObject({
      default: '`false`',
      unit: '`true`, `false`',
    });
    expect(rowOf('adaptive')).toMatchObject({
      default: '`"rate"`',
      unit: '`"rate"`, `"latency"`, `"failures"`, `false`',
    });
    expect(rowOf('adaptive.strategy')?.default).toBe('required');
  });

  it('leave no cell empty, and no cell breaks the table', () => {
    for (const cell of optionRows().flatMap((row) => Object.values(row))) {
      expect(cell).toMatch(/^[^|\n]+$/);
      expect((cell.match(/`/g) ?? []).length % 2).toBe(0);
    }
  });

  it('are a table of Markdown', () => {
    const lines = optionTable().split('\n');
    expect(lines).toHaveLength(ROWS.length + 2);
    expect(lines.slice(0, 3)).toEqual([
      '| option | default | unit or values | what it does | environment |',
      '|---|---|---|---|---|',
      '| `concurrency` | 400 | requests | most requests in flight | `HEADGATE_CONCURRENCY` |',
    ]);
    for (const line of lines) expect(line.split('|')).toHaveLength(7);
    expect(optionTable('OPENAI')).toContain('| `OPENAI_TOTAL` |');
  });
});
