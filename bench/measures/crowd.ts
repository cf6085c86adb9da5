/** A limiter at which many requests wait, all for the same thing. */
import { type AcquireOptions, createLimiter, type Limiter, type LimiterOptions } from 'headgate';
import { ManualClock } from 'headgate/simulator';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY } from '../job.ts';

/** So long, or so many, that nobody is timed out, turned away or grows more urgent here. */
const EVER = 1_000_000_000;
/** Turns of the microtask queue in which a task that is let pass must have started. */
const PATIENCE = 100;

export interface Crowd {
  readonly limiter: Limiter;
  /** Tasks that were let pass so far. */
  readonly started: number;
  /** What holds the crowd back. */
  readonly limit: number | undefined;
  /** One more comes. @param onStart told when it is let pass */
  join(options?: AcquireOptions, onStart?: () => void): Promise<void>;
  /** Lets so many pass, one after the other. */
  admit(count: number): Promise<void>;
  /** Changes what can change, `limit` to `CONCURRENCY - turn`, such that nobody is let pass. */
  configure(turn: 0 | 1): void;
}

/** All slots are taken by tasks that end when they are told to. */
export function slotsCrowd(): Crowd {
  const running: (() => void)[] = [];
  const options = (turn: 0 | 1) => ({ ...queue(turn), concurrency: CONCURRENCY - turn });
  const limiter = createLimiter({ ...options(0), adaptive: false, agingMs: EVER });
  let started = 0;
  const start = () => {
    started += 1;
    return new Promise<void>((end) => {
      running.push(end);
    });
  };
  for (let index = 0; index < CONCURRENCY; index++) void limiter.run(start);
  return {
    limiter,
    get started() {
      return started;
    },
    get limit() {
      return limiter.snapshot().concurrency.limit;
    },
    join: (said, onStart) => limiter.run(taskOf(start, onStart), said),
    admit: async (count) => {
      const wanted = started + count;
      for (let index = 0; index < count; index++) running.pop()?.();
      for (let turn = 0; started < wanted && turn < PATIENCE; turn++) await undefined;
      expectEqual('tasks that were let pass', started, wanted);
    },
    configure: (turn) => limiter.configure(options(turn)),
  };
}

/** Everyone has a slot; the rate limit lets one pass every millisecond of a clock that is moved. */
export function rateCrowd(): Crowd {
  const clock = new ManualClock();
  const options = (turn: 0 | 1) => ({
    ...queue(turn),
    concurrency: EVER - turn,
    limits: { requests: { limit: CONCURRENCY - turn, windowMs: CONCURRENCY } },
  });
  const limiter = createLimiter({ ...options(0), adaptive: false, agingMs: EVER, clock });
  let started = 0;
  const start = async () => {
    started += 1;
  };
  for (let index = 0; index < CONCURRENCY; index++) {
    clock.advanceTo(index);
    void limiter.run(start);
  }
  return {
    limiter,
    get started() {
      return started;
    },
    get limit() {
      return limiter.snapshot().rateLimit?.requests?.limit;
    },
    join: (said, onStart) => limiter.run(taskOf(start, onStart), said),
    admit: async (count) => {
      const wanted = started + count;
      for (let index = 0; index < count; index++) clock.advance(1);
      expectEqual('tasks that were let pass', started, wanted);
    },
    configure: (turn) => limiter.configure(options(turn)),
  };
}

/** Bounds that are on, and never reached. */
function queue(turn: 0 | 1): Pick<LimiterOptions, 'maxQueue' | 'waitTimeoutMs'> {
  return { maxQueue: EVER - turn, waitTimeoutMs: EVER - turn };
}

function taskOf(start: () => Promise<void>, onStart: (() => void) | undefined) {
  if (onStart === undefined) return start;
  return () => {
    onStart();
    return start();
  };
}
