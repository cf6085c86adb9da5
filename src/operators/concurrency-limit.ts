import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import { DEFAULT_CONCURRENCY, DEFAULT_THROTTLED_CONCURRENCY, Slots } from '../core/slots.ts';
import { Gate } from '../gate/gate.ts';
import type { GateRules } from '../gate/rules.ts';
import { checkInteger, checkKeys } from '../model/check.ts';
import type { Ticket } from '../model/ticket.ts';
import { type Adjustable, checkAdjustable, follow } from './adjustable.ts';
import {
  COMMON_KEYS,
  type CommonOptions,
  type Surroundings,
  surroundings,
} from './common-options.ts';
import { type Arrival, Intake } from './intake.ts';
import { checkPassageOptions, PASSAGE_KEYS, Passage, type PassageOptions } from './passage.ts';

/** How many requests may be in flight. */
export interface ConcurrencyOptions {
  /** Requests in flight at the most, an integer >= 1, or a stream of such. Default 400 (seed: 000). */
  readonly concurrency?: Adjustable;
  /** Of those admitted in throttled mode, how many may be in flight. Default 10 (seed: 000). */
  readonly throttledConcurrency?: number;
}

export const CONCURRENCY_KEYS = ['concurrency', 'throttledConcurrency'] as const;

/** @throws RangeError or TypeError that names a wrong option */
export function checkConcurrencyOptions(options: ConcurrencyOptions): void {
  checkAdjustable('concurrency', options.concurrency, 1);
  if (options.throttledConcurrency !== undefined) {
    checkInteger('throttledConcurrency', options.throttledConcurrency, 1);
  }
}

export function openConcurrencyGate(
  options: ConcurrencyOptions,
  { feedback, clock, probe }: Surroundings,
  rules?: GateRules,
): Gate<Slots> {
  const { concurrency, throttledConcurrency = DEFAULT_THROTTLED_CONCURRENCY } = options;
  const limit = typeof concurrency === 'number' ? concurrency : DEFAULT_CONCURRENCY;
  const slots = new Slots(limit, throttledConcurrency, feedback?.modeState);
  return new Gate('concurrency', slots, clock, probe, rules);
}

/** Lets a limit follow a stream of limits while `out` is subscribed. */
export function followConcurrency<R>(
  out: Subscriber<R>,
  { concurrency }: ConcurrencyOptions,
  apply: (limit: number) => void,
): void {
  follow(out, 'concurrency', concurrency, 1, apply);
}

/**
 * Lets a number of requests be in flight at a time: from here until they are settled.
 *
 * A request that comes to the head of the queue in throttled mode needs one of the throttled slots
 * too, or waits until the mode ends. Raising the limit admits waiters at once; lowering it lets
 * the holders finish and admits nobody until fewer are in flight. First come, first served.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(concurrencyLimit({ concurrency: 20 }), dispatch(send))
 */
export function concurrencyLimit<T>(
  options: ConcurrencyOptions & CommonOptions & PassageOptions = {},
): OperatorFunction<Arrival<T>, Ticket<T>> {
  checkKeys('concurrencyLimit', options, [...CONCURRENCY_KEYS, ...COMMON_KEYS, ...PASSAGE_KEYS]);
  checkConcurrencyOptions(options);
  checkPassageOptions(options);
  const around = surroundings(options);
  return (source) =>
    new Observable((out) => {
      const gate = openConcurrencyGate(options, around);
      followConcurrency(out, options, (limit) => {
        gate.core.limit = limit;
        gate.drain();
      });
      // A wrong limit may have come at once.
      if (out.closed) return;
      source.subscribe(new Passage(out, gate, new Intake<T>(around), options));
    });
}
