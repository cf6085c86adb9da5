import type { Observable, Subscriber } from 'rxjs';
import { checkLimiterConfig } from '../config/check-config.ts';
import type { ByteBudget } from '../core/byte-budget.ts';
import type { Slots } from '../core/slots.ts';
import {
  BACKOFF_KEYS,
  type BackoffOptions,
  checkBackoffOptions,
  FeedbackSubject,
} from '../feedback/feedback-subject.ts';
import type { Commons } from '../gate/commons.ts';
import type { Gate } from '../gate/gate.ts';
import type { Door, WaitListener } from '../gate/rules.ts';
import { checkKeys } from '../model/check.ts';
import type { Random } from '../model/clock.ts';
import type { Tell } from '../model/facts.ts';
import type { Outcome } from '../model/outcome.ts';
import { adaptiveChoice, isAdaptiveRate } from './adaptive-core.ts';
import { type AttemptGate, openAttemptGate } from './attempt-gate.ts';
import { ATTEMPT_KEYS, type AttemptOptions } from './attempt-options.ts';
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
import { DirectDeparture } from './departure.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Arrival, Intake } from './intake.ts';
import { Passage } from './passage.ts';
import { QUEUE_KEYS, type QueueOptions, type Queues, queuesOf, rulesOf } from './queue-options.ts';
import type { ResultOptions } from './send-options.ts';

/** The limits of one API: the options of all gates. */
export interface GateOptions
  extends ConcurrencyOptions,
    ByteBudgetOptions,
    AttemptOptions,
    QueueOptions,
    CommonOptions {
  /**
   * How long to back off after a 429; the rate does not adapt then, unless `adaptive` says so.
   * Excludes `feedback`, which has a backoff of its own.
   */
  readonly backoff?: Omit<BackoffOptions, 'clock' | 'probe'>;
}

export const GATE_KEYS = [
  ...CONCURRENCY_KEYS,
  ...BYTE_BUDGET_KEYS,
  ...ATTEMPT_KEYS,
  ...QUEUE_KEYS,
  ...COMMON_KEYS,
  'backoff',
] as const;

/** All gates, in the order in which a request passes them. */
export interface Gates {
  readonly concurrency: Gate<Slots>;
  readonly byteBudget: Gate<ByteBudget>;
  readonly attempt: AttemptGate;
  readonly feedback: FeedbackSubject;
  readonly queues: Queues;
}

/** What waits at a rate that adapts needs no other limits after a 429, and no probe. */
const PACED_BACKOFF = { throttledForMs: 0, reopen: 'all' } as const;

/** What only some who open gates have to say. */
export interface GateExtras {
  /** Whether requests may have priorities. */
  readonly isPrioritized?: boolean;
  readonly tell?: Tell;
  /** Limits that other sets of gates share. */
  readonly commons?: Commons;
  readonly door?: Door;
  readonly listener?: WaitListener;
}

/**
 * Returns what makes sets of gates; it checks what they need no core for. Making one checks the rest.
 * @throws RangeError or TypeError that names a wrong option
 */
export function gatesOf(
  options: GateOptions & { readonly random?: Random },
): (extras?: GateExtras) => Gates {
  checkConcurrencyOptions(options);
  checkByteBudgetOptions(options);
  checkPlainOptions(options);
  const { clock, probe, feedback: shared } = surroundings(options);
  if (shared !== undefined && options.backoff !== undefined) {
    throw new TypeError(
      '`backoff` and `feedback` exclude each other: give `backoff` to the feedback',
    );
  }
  if (options.backoff !== undefined) checkKeys('backoff', options.backoff, BACKOFF_KEYS);
  const adaptive = adaptiveChoice(options);
  const isPaced = isAdaptiveRate(adaptive);
  const backoff = { ...(isPaced && PACED_BACKOFF), ...options.backoff, clock, probe };
  checkBackoffOptions(backoff);
  const { random = Math.random } = options;
  return (extras = {}) => {
    const feedback = shared ?? new FeedbackSubject(backoff);
    const around = { clock, probe, feedback };
    const { tell, door, isPrioritized = false, listener, commons } = extras;
    const queues = queuesOf(options, clock);
    const rules = rulesOf(queues, isPrioritized);
    const concurrency = openConcurrencyGate(options, around, rules && { ...rules, door });
    const byteBudget = openByteBudgetGate(options, around, rules);
    const chosen = { ...options, adaptive };
    const attempt = openAttemptGate(chosen, {
      ...around,
      random,
      concurrency,
      commons,
      tell,
      rules,
    });
    if (listener !== undefined) {
      for (const gate of [concurrency, byteBudget, attempt.gate]) gate.listener = listener;
    }
    return { concurrency, byteBudget, attempt, feedback, queues };
  };
}

/**
 * Another concurrency from now on; who may pass then is for the caller to let pass. An adaptive limit
 * keeps what it has learned, below it.
 */
export function setConcurrency(
  concurrency: number,
  { concurrency: gate, attempt, feedback }: Gates,
): void {
  const { adaptive } = attempt.cores;
  adaptive?.setMaxLimit(concurrency, feedback.clock.now());
  gate.core.limit = adaptive?.limit ?? concurrency;
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
  const departure = new DirectDeparture(out, intake, dispatcher, results);
  const attempt = new Passage(departure, gates.attempt.gate, intake);
  const byteBudget = new Passage(attempt, gates.byteBudget, intake);
  source.subscribe(new Passage(byteBudget, gates.concurrency, intake));
}

/** Checks by the table of options what is plain data: a limit may be a stream of limits here. */
function checkPlainOptions(options: GateOptions): void {
  const { concurrency, maxBytes, ...rest } = options;
  const plain = {
    ...rest,
    ...(typeof concurrency === 'number' && { concurrency }),
    ...(typeof maxBytes === 'number' && { maxBytes }),
  };
  checkLimiterConfig('throttle', plain, Object.keys(rest));
}
