/** The operations on a limiter with many waiting requests. */
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type WaitersJob } from '../job.ts';
import type { Crowd } from './crowd.ts';

/** The number of operations that are timed together, so that reading the clock hardly counts. */
export const BATCH = 10;

/**
 * The step between aborted waiters. It is prime, so that all waiters are reached in a mixed order.
 */
const STRIDE = 38_197;

/** One error for all aborts: creating an error costs more than the abort. */
const REASON = new Error('aborted');

/** An operation that is repeated. After each batch, the number of waiters is restored. */
export interface Trial {
  /** Adds one waiter before the first operation. Default: a waiter without options. */
  join?(): void;
  /** Performs `count` operations. Only this is timed. */
  act(count: number): Promise<void> | undefined;
  /** The number of waiters that each operation adds. Default 0. */
  readonly grows?: number;
  /** Restores the number of waiters. */
  restore?(count: number): Promise<void>;
  /** Throws unless there were `total` operations, and each had its effect. */
  verify(total: number, waiters: number): void;
}

type TrialOf = (crowd: Crowd) => Trial;

export const trials: Readonly<Record<WaitersJob['operation'], TrialOf>> = {
  run: (crowd) => ({
    act: (count) => {
      for (let index = 0; index < count; index++) void crowd.join();
      return undefined;
    },
    grows: 1,
    restore: (count) => crowd.admit(count),
    verify: (total) => expectEqual('requests that passed', crowd.started - CONCURRENCY, total),
  }),

  urgent: (crowd) => {
    let urgent = 0;
    const onStart = () => {
      urgent += 1;
    };
    return {
      act: (count) => {
        for (let index = 0; index < count; index++) void crowd.join({ priority: 1 }, onStart);
        return undefined;
      },
      grows: 1,
      restore: (count) => crowd.admit(count),
      verify: (total) => expectEqual('urgent requests that passed first', urgent, total),
    };
  },

  abort: (crowd) => {
    const controllers: AbortController[] = [];
    let newest = new AbortController();
    let joined = 0;
    let aborted = 0;
    let at = 0;
    const onAbort = () => {
      aborted += 1;
    };
    const joinUntil = ({ signal }: AbortController) => {
      crowd.join({ signal }).catch(onAbort);
    };
    return {
      join: () => {
        if (joined % BATCH === 0) newest = new AbortController();
        controllers[Math.floor(joined / BATCH)] = newest;
        joined += 1;
        joinUntil(newest);
      },
      // One signal aborts the batch: creating an `AbortController` costs more than leaving a queue.
      act: () => {
        at = (at + STRIDE) % controllers.length;
        controllers[at]?.abort(REASON);
        return undefined;
      },
      grows: -1,
      // Replace the aborted requests by new ones at the end of the queue.
      restore: async (count) => {
        const controller = new AbortController();
        controllers[at] = controller;
        for (let index = 0; index < count; index++) joinUntil(controller);
      },
      verify: (total) => {
        expectEqual('requests that were aborted', aborted, total);
        expectEqual('requests that passed', crowd.started, CONCURRENCY);
      },
    };
  },

  configure: (crowd) => {
    let turn: 0 | 1 = 0;
    return {
      act: (count) => {
        for (let index = 0; index < count; index++) {
          turn = turn === 0 ? 1 : 0;
          crowd.configure(turn);
        }
        return undefined;
      },
      restore: async () => {
        expectEqual('limit', crowd.limit, CONCURRENCY - turn);
        turn = turn === 0 ? 1 : 0;
        crowd.configure(turn);
        expectEqual('other limit', crowd.limit, CONCURRENCY - turn);
      },
      verify: () => expectEqual('requests that passed', crowd.started, CONCURRENCY),
    };
  },

  snapshot: (crowd) => {
    let seen = 0;
    return {
      act: (count) => {
        for (let index = 0; index < count; index++) seen += crowd.limiter.snapshot().waiting;
        return undefined;
      },
      verify: (total, waiters) => expectEqual('waiters that were seen', seen, total * waiters),
    };
  },

  'give-back': (crowd) => ({
    act: (count) => crowd.admit(count),
    grows: -1,
    restore: async (count) => {
      for (let index = 0; index < count; index++) void crowd.join();
    },
    verify: (total) => expectEqual('waiters that passed', crowd.started - CONCURRENCY, total),
  }),
};
