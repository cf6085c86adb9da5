import { describe, expect, it } from 'vitest';
import { ServedAttempts } from '../../../../src/policies/adaptive-rate/concurrency/served-attempts.ts';
import { attemptAt } from '../attempts.ts';

describe('what was in flight when an attempt was sent', () => {
  const sent = attemptAt(10, { order: 5, others: 4 });

  it('was served, but for what was rejected later and was sent before', () => {
    const served = new ServedAttempts();
    expect(served.beside(sent)).toBe(4);
    served.rejected(attemptAt(1, { order: 1 }), 9);
    expect(served.beside(sent)).toBe(4);
    served.rejected(attemptAt(2, { order: 2 }), 11);
    served.rejected(attemptAt(3, { order: 3 }), 12);
    served.rejected(attemptAt(11, { order: 6 }), 13);
    expect(served.beside(sent)).toBe(2);
  });

  it('tells the same after thousands of rejections', () => {
    const served = new ServedAttempts();
    for (let order = 0; order < 10_000; order += 1) served.rejected(attemptAt(0, { order }), 5);
    served.rejected(attemptAt(2, { order: 2 }), 11);
    expect(served.beside(attemptAt(10, { order: 20_000, others: 4 }))).toBe(3);
  });
});
