/** A limiter with many waiting requests, which all wait for the same limit. */
import { type AcquireOptions, createLimiter, type Limiter, type LimiterOptions } from 'headgate';
import { ManualClock } from 'headgate/simulator';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY } from '../job.ts';

/** A time or number so large that no request is timed out, refused or aged. */
const EVER = 1_000_000_000;
/** The number of microtask turns in which an admitted task must have started. */
const PATIENCE = 100;

export interface Crowd {
  readonly limiter: Limiter;
  /** The number of tasks admitted so far. */
  readonly started: number;
  /** The limit that holds the requests back. */
  readonly limit: number | undefined;
  /** Adds a request. @param onStart called when the request is admitted */
  join(options?: AcquireOptions, onStart?: () => void): Promise<void>;
  /** Admits `count` requests, one after another. */
  admit(count: number): Promise<void>;
  /** Changes all options, `limit` to `CONCURRENCY - turn`, without admitting a request. */
  configure(turn: 0 | 1): void;
}

/** Requests wait for slots, which are taken by tasks that end on demand. */
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

/** Requests wait for a rate limit, which admits one request each millisecond of a manual clock. */
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

/** Bounds of the queue that are never reached. */
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
