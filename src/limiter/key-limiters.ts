import type { Instrumentation } from '../model/instrumentation.ts';
import type { LimiterEvent } from '../model/limiter-event.ts';
import type { Clock } from '../util/clock.ts';
import type { Timeouts } from '../util/timers.ts';
import type { LimiterGroupOptions } from './group-options.ts';
import type { GroupStore } from './group-store.ts';
import { Limiter } from './limiter.ts';
import { checkKeyOptions } from './limiter-options.ts';
import type { CountedBefore } from './request-counters.ts';
import type { SharedLimits } from './shared-limits.ts';

/** The parts of a group that the limiters of all its keys use. */
interface GroupParts {
  readonly clock: Clock;
  /** That of the group: it makes the metrics and spans of all keys. */
  readonly instrumentation: Instrumentation | undefined;
  readonly store: GroupStore | undefined;
  readonly isHeard: () => boolean;
  readonly emit: (event: LimiterEvent, key: string) => void;
}

/** Makes the limiters of the keys of a group. */
export class KeyLimiters {
  private readonly options: LimiterGroupOptions;
  private readonly parts: GroupParts;
  /** Ends the attempts of the key that was made last, and of all with the same time. */
  private timeouts: Timeouts | undefined = undefined;

  constructor(options: LimiterGroupOptions, parts: GroupParts) {
    this.options = options;
    this.parts = parts;
  }

  /**
   * @param before what an earlier limiter of the key has counted
   * @throws RangeError or TypeError that names a wrong option of the key, as `each` does
   */
  open(key: string, before: CountedBefore | undefined, shared: SharedLimits | undefined): Limiter {
    const { each = {}, classify, random, name } = this.options;
    const { clock, instrumentation, store, isHeard, emit } = this.parts;
    const limits = typeof each === 'function' ? each(key) : each;
    checkKeyOptions(limits, 'each');
    if (limits.clock !== undefined && limits.clock !== clock) {
      throw new TypeError('`each.clock` must be the clock of the group; leave it out');
    }
    const keyStore = store?.ofKey(key, limits);
    const options = {
      ...(classify && { classify }),
      ...(instrumentation && { instrumentation }),
      ...(random && { random }),
      ...(name !== undefined && { name }),
      clock,
      ...limits,
      ...(keyStore && { shared: keyStore }),
      telemetry: false,
    } as const;
    const limiter = new Limiter(options, {
      key,
      before,
      shared,
      peers: store,
      timeouts: this.timeouts,
      emit: (event) => emit(event, key),
      isHeard,
    });
    this.timeouts = limiter.inside.gate.timeouts;
    return limiter;
  }
}
