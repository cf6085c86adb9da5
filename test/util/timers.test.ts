import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { type Timed, Timeouts } from '../../src/util/timers.ts';

class Member implements Timed {
  before: Timed | undefined = undefined;
  after: Timed | undefined = undefined;
  readonly startedAt: number;
  private readonly ended: () => void;

  constructor(startedAt: number, ended: () => void) {
    this.startedAt = startedAt;
    this.ended = ended;
  }

  timedOut(): void {
    this.ended();
  }
}

function setUp(timeoutMs: number) {
  const clock = new ManualClock();
  const timeouts = new Timeouts(timeoutMs, clock, true);
  const endedAt: number[] = [];
  const start = (startedAt = clock.now(), onEnd = () => {}) => {
    const member = new Member(startedAt, () => {
      endedAt.push(clock.now());
      onEnd();
    });
    timeouts.started(member, clock.now());
    return member;
  };
  return { clock, timeouts, endedAt, start };
}

describe('Timeouts', () => {
  it('ends each member after its time, with one timer', () => {
    const { clock, endedAt, start } = setUp(100);
    start();
    clock.advance(30);
    start();
    start();
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1_000);
    expect(endedAt).toEqual([100, 130, 130]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts from when a member started, not from when it was told', () => {
    const { clock, endedAt, start } = setUp(100);
    clock.advance(40);
    start(10);
    clock.advance(1_000);
    expect(endedAt).toEqual([110]);
  });

  it('leaves alone what has ended, and rests when nothing runs', () => {
    const { clock, timeouts, endedAt, start } = setUp(100);
    const first = start();
    clock.advance(10);
    const second = start();
    timeouts.ended(first);
    timeouts.ended(first);
    clock.advance(100);
    expect(endedAt).toEqual([110]);
    timeouts.ended(second);
    timeouts.ended(start());
    expect(clock.pendingTimers).toBe(0);
  });

  it('times what starts while others end', () => {
    const { clock, endedAt, start } = setUp(100);
    start(0, () => start());
    clock.advance(150);
    expect(endedAt).toEqual([100]);
    clock.advance(50);
    expect(endedAt).toEqual([100, 200]);
  });

  it('applies another time to those that run', () => {
    const { clock, timeouts, endedAt, start } = setUp(100);
    start();
    clock.advance(50);
    timeouts.configure(Number.POSITIVE_INFINITY);
    clock.advance(1_000);
    expect(endedAt).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    timeouts.configure(60);
    clock.advance(0);
    expect(endedAt).toEqual([1_050]);
  });
});
