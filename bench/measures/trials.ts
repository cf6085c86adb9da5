/** What can be done at a limiter at which many wait. */
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type WaitersJob } from '../job.ts';
import type { Crowd } from './crowd.ts';

/** Operations that are timed as one, so that reading the clock costs nothing to speak of. */
export const BATCH = 10;

/** Prime to every round number: from some waiters in the middle to others, until all had their turn. */
const STRIDE = 38_197;

/** Made once: an error costs more than all the rest of an abort. */
const REASON = new Error('aborted');

/** An operation, again and again, on a crowd that is as large afterwards as it was before. */
export interface Trial {
  /** How one waiter comes before the first operation. Default: without a word. */
  join?(): void;
  /** `BATCH` operations. This alone is timed. */
  act(count: number): Promise<void> | undefined;
  /** By how many each makes the crowd larger. Default 0. */
  readonly grows?: number;
  /** Makes the crowd as large as it was. */
  restore?(count: number): Promise<void>;
  /** Fails unless there were so many operations in all, and each did what it should. */
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
      // One signal for all of them: to make an `AbortController` costs more than to leave a queue.
      act: () => {
        at = (at + STRIDE) % controllers.length;
        controllers[at]?.abort(REASON);
        return undefined;
      },
      grows: -1,
      // Others come in their places, at the end of the queue.
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
