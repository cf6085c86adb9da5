import { describe, expect, it } from 'vitest';
import { SmallCap } from '../../../../src/policies/adaptive-rate/concurrency/small-cap.ts';
import { attemptAt } from '../attempts.ts';

class Player {
  private readonly cap = new SmallCap();
  limit: number | undefined = undefined;

  accepted(count: number, others: number): void {
    for (let n = 0; n < count; n += 1) this.settle('accepted', others);
  }

  rejected(others: number, mayBeByCap = true): void {
    this.settle('rejected', others, mayBeByCap);
  }

  private settle(outcome: 'accepted' | 'rejected', others: number, mayBeByCap = false): void {
    const sent = attemptAt(0, { others });
    sent.outcome = outcome;
    sent.mayBeByCap = mayBeByCap;
    this.limit = this.cap.settled(sent, others) ?? this.limit;
  }
}

describe('a cap of a few requests in flight', () => {
  it('is found where what exceeds it is rejected, though some of it was accepted', () => {
    const player = new Player();
    for (let n = 0; n < 4; n += 1) {
      player.accepted(8, 0);
      player.accepted(1, 1);
      expect(player.limit).toBeUndefined();
      player.rejected(1);
    }
    expect(player.limit).toBe(1);
  });

  it('is the lowest number in flight at which anything was rejected', () => {
    const player = new Player();
    for (const others of [4, 3, 5, 3, 3]) {
      player.accepted(8, 2);
      player.rejected(others);
    }
    expect(player.limit).toBe(3);
  });

  it('is shown by four rejections that look like those of a cap', () => {
    const player = new Player();
    player.rejected(1, false);
    for (let n = 0; n < 3; n += 1) {
      player.accepted(8, 0);
      player.rejected(1);
    }
    expect(player.limit).toBeUndefined();
    player.accepted(8, 0);
    player.rejected(1);
    expect(player.limit).toBe(1);
  });

  it('is none where most of what was sent with as many in flight was accepted', () => {
    const player = new Player();
    for (let n = 0; n < 100; n += 1) {
      player.accepted(8, 0);
      player.accepted(2, 1);
      player.rejected(1);
    }
    expect(player.limit).toBeUndefined();
  });

  it('is none where anything is rejected with nothing in flight', () => {
    const player = new Player();
    for (let n = 0; n < 100; n += 1) {
      player.accepted(8, 0);
      player.rejected(n % 4 === 3 ? 0 : 1);
    }
    expect(player.limit).toBeUndefined();
  });

  it('is none where rejections say something else', () => {
    const player = new Player();
    for (let n = 0; n < 100; n += 1) {
      player.accepted(8, 0);
      player.rejected(1, n % 3 !== 2);
    }
    expect(player.limit).toBeUndefined();
  });

  it('is not shown by rejections in a row, nor by few accepted attempts', () => {
    const closed = new Player();
    closed.accepted(20, 0);
    for (let n = 0; n < 100; n += 1) closed.rejected(1);
    expect(closed.limit).toBeUndefined();
    const few = new Player();
    for (let n = 0; n < 4; n += 1) {
      few.accepted(3, 0);
      few.rejected(1);
    }
    expect(few.limit).toBeUndefined();
  });
});
