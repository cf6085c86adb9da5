import { describe, expect, it } from 'vitest';
import { Once } from '../../src/util/once.ts';

describe('work that is done inside another call', () => {
  it('is done once, by the first caller', () => {
    let runs = 0;
    const once = new Once(() => {
      runs += 1;
    });
    once.run();
    once.run();
    once.end();
    expect(runs).toBe(1);
  });

  it('is done at the end, if the other call has not done it', () => {
    let runs = 0;
    const once = new Once(() => {
      runs += 1;
    });
    once.end();
    once.end();
    expect(runs).toBe(1);
  });

  it('throws its error at once and at the end, and recognises it', () => {
    const mine = new Error('mine');
    const once = new Once(() => {
      throw mine;
    });
    expect(once.hasThrown(mine)).toBe(false);
    expect(() => once.run()).toThrow(mine);
    expect(() => once.run()).not.toThrow();
    expect(() => once.end()).toThrow(mine);
    expect(once.hasThrown(mine)).toBe(true);
    expect(once.hasThrown(new Error('mine'))).toBe(false);
  });

  it('recognises a thrown undefined, too', () => {
    const once = new Once(() => {
      throw undefined;
    });
    const caught: unknown[] = [];
    try {
      once.run();
    } catch (error) {
      caught.push(error);
    }
    try {
      once.end();
    } catch (error) {
      caught.push(error);
    }
    expect(caught).toEqual([undefined, undefined]);
    expect(once.hasThrown(undefined)).toBe(true);
  });
});
