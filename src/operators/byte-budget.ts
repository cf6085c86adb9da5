import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import {
  ByteBudget,
  DEFAULT_MAX_BYTES,
  DEFAULT_THROTTLED_BYTE_FACTOR,
} from '../core/byte-budget.ts';
import { Gate } from '../gate/gate.ts';
import type { GateRules } from '../gate/rules.ts';
import { checkKeys, checkNumber } from '../model/check.ts';
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

/** How many bytes may be in flight. */
export interface ByteBudgetOptions {
  /** Bytes in flight before requests wait, an integer >= 0, or a stream of such. Default 5 MiB (seed: 000). */
  readonly maxBytes?: Adjustable;
  /** How many times its size a request is charged in throttled mode, >= 1. Default 20 (seed: 000). */
  readonly throttledByteFactor?: number;
}

export const BYTE_BUDGET_KEYS = ['maxBytes', 'throttledByteFactor'] as const;

/** @throws RangeError or TypeError that names a wrong option */
export function checkByteBudgetOptions(options: ByteBudgetOptions): void {
  checkAdjustable('maxBytes', options.maxBytes, 0);
  if (options.throttledByteFactor !== undefined) {
    checkNumber('throttledByteFactor', options.throttledByteFactor, 1);
  }
}

export function openByteBudgetGate(
  options: ByteBudgetOptions,
  { feedback, clock, probe }: Surroundings,
  rules?: GateRules,
): Gate<ByteBudget> {
  const { maxBytes, throttledByteFactor = DEFAULT_THROTTLED_BYTE_FACTOR } = options;
  const initial = typeof maxBytes === 'number' ? maxBytes : DEFAULT_MAX_BYTES;
  const budget = new ByteBudget(initial, throttledByteFactor, feedback?.modeState);
  return new Gate('byteBudget', budget, clock, probe, rules);
}

/** Lets the gate's budget follow a stream of budgets while `out` is subscribed. */
export function followMaxBytes<R>(
  out: Subscriber<R>,
  { maxBytes }: ByteBudgetOptions,
  gate: Gate<ByteBudget>,
): void {
  follow(out, 'maxBytes', maxBytes, 0, (limit) => {
    gate.core.maxBytes = limit;
    gate.drain();
  });
}

/**
 * Lets requests pass while the bytes in flight do not exceed a budget; the one that passes last may
 * overdraw it, so that a request larger than the whole budget can be sent at all. While it is
 * overdrawn everyone waits, requests of no size too. First come, first served.
 *
 * In throttled mode a request is charged `throttledByteFactor` times its size. What is given back
 * is what was charged.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * prompts$.pipe(byteBudget({ maxBytes: 1_000_000 }), dispatch(send))
 */
export function byteBudget<T>(
  options: ByteBudgetOptions & CommonOptions & PassageOptions = {},
): OperatorFunction<Arrival<T>, Ticket<T>> {
  checkKeys('byteBudget', options, [...BYTE_BUDGET_KEYS, ...COMMON_KEYS, ...PASSAGE_KEYS]);
  checkByteBudgetOptions(options);
  checkPassageOptions(options);
  const around = surroundings(options);
  return (source) =>
    new Observable((out) => {
      const gate = openByteBudgetGate(options, around);
      followMaxBytes(out, options, gate);
      // A wrong limit may have come at once.
      if (out.closed) return;
      source.subscribe(new Passage(out, gate, new Intake<T>(around), options));
    });
}
