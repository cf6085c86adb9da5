import { afterEach, describe, expect, it, vi } from 'vitest';
import { contain, type Instrumentation } from '../../src/model/instrumentation.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a contained instrumentation', () => {
  it('throws nothing, and warns once', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const instrumentation: Instrumentation = {
      backoff: () => {
        throw new Error('full');
      },
      chunkClosed: () => {
        throw 'also';
      },
    };
    const safe = contain(instrumentation);
    for (let n = 0; n < 3; n += 1) safe?.backoff?.(1, 'computed');
    safe?.chunkClosed?.(1, 2, 'items');
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]?.[0]).toBe(
      'a headgate instrumentation threw in `backoff`: Error: full',
    );
  });

  it('has the methods of the original, with their `this` and arguments', () => {
    class Counter implements Instrumentation {
      facts: unknown[] = [];
      backoff(...facts: unknown[]): void {
        this.facts.push(...facts);
      }
    }
    const counter = new Counter();
    const safe = contain(counter);
    safe?.backoff?.(5, 'retry_after');
    expect(counter.facts).toEqual([5, 'retry_after']);
    expect(safe?.settled).toBeUndefined();
  });

  it('is contained once', () => {
    const safe = contain({});
    expect(contain(safe)).toBe(safe);
    expect(contain(undefined)).toBeUndefined();
  });
});
