import type { Observable, Subscriber } from 'rxjs';
import type { ByteBudget } from '../core/byte-budget.ts';
import type { Slots } from '../core/slots.ts';
import {
  BACKOFF_KEYS,
  type BackoffOptions,
  checkBackoffOptions,
  FeedbackSubject,
} from '../feedback/feedback-subject.ts';
import type { Gate } from '../gate/gate.ts';
import { checkKeys } from '../model/check.ts';
import type { Outcome } from '../model/outcome.ts';
import {
  BYTE_BUDGET_KEYS,
  type ByteBudgetOptions,
  checkByteBudgetOptions,
  openByteBudgetGate,
} from './byte-budget.ts';
import { COMMON_KEYS, type CommonOptions, surroundings } from './common-options.ts';
import {
  CONCURRENCY_KEYS,
  type ConcurrencyOptions,
  checkConcurrencyOptions,
  openConcurrencyGate,
} from './concurrency-limit.ts';
import { Departure } from './departure.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Arrival, Intake } from './intake.ts';
import { Passage } from './passage.ts';
import type { ResultOptions } from './send-options.ts';

/** The limits of one API: the options of all gates. */
export interface GateOptions extends ConcurrencyOptions, ByteBudgetOptions, CommonOptions {
  /** How long to back off after a 429. A `feedback` that is given has its own. */
  readonly backoff?: Omit<BackoffOptions, 'clock' | 'probe'>;
}

export const GATE_KEYS = [
  ...CONCURRENCY_KEYS,
  ...BYTE_BUDGET_KEYS,
  ...COMMON_KEYS,
  'backoff',
] as const;

/** All gates, in the order in which a request passes them; the backoff gate is the feedback's. */
export interface Gates {
  readonly concurrency: Gate<Slots>;
  readonly byteBudget: Gate<ByteBudget>;
  readonly feedback: FeedbackSubject;
}

/**
 * Checks the options, once, and returns what makes a set of gates of them.
 * @throws RangeError or TypeError that names a wrong option
 */
export function gatesOf(options: GateOptions): () => Gates {
  checkConcurrencyOptions(options);
  checkByteBudgetOptions(options);
  const { clock, probe, feedback: shared } = surroundings(options);
  if (shared !== undefined && options.backoff !== undefined) {
    throw new TypeError(
      '`backoff` and `feedback` exclude each other: give `backoff` to the feedback',
    );
  }
  if (options.backoff !== undefined) checkKeys('backoff', options.backoff, BACKOFF_KEYS);
  const backoff = { ...options.backoff, clock, probe };
  checkBackoffOptions(backoff);
  return () => {
    const feedback = shared ?? new FeedbackSubject(backoff);
    const around = { clock, probe, feedback };
    return {
      concurrency: openConcurrencyGate(options, around),
      byteBudget: openByteBudgetGate(options, around),
      feedback,
    };
  };
}

/** Subscribes to the source and takes its requests through all gates to the API. */
export function sendThrough<T, R>(
  source: Observable<Arrival<T>>,
  out: Subscriber<R | Outcome<T, R>>,
  gates: Gates,
  intake: Intake<T>,
  dispatcher: Dispatcher<T, R>,
  results: ResultOptions,
): void {
  const departure = new Departure(out, intake, dispatcher, results);
  const backoff = new Passage(departure, gates.feedback.gate, intake);
  const byteBudget = new Passage(backoff, gates.byteBudget, intake);
  source.subscribe(new Passage(byteBudget, gates.concurrency, intake));
}
