import { AdaptiveRateCore } from '../core/adaptive-rate-core.ts';
import { Composite, type Part } from '../core/composite.ts';
import { PacedCore } from '../core/paced-core.ts';
import type { Slots } from '../core/slots.ts';
import type { FeedbackSubject } from '../feedback/feedback-subject.ts';
import type { Commons } from '../gate/commons.ts';
import { Gate } from '../gate/gate.ts';
import type { GateRules } from '../gate/rules.ts';
import { Waker } from '../gate/waker.ts';
import type { Clock, Random } from '../model/clock.ts';
import type { CoreFact, Tell } from '../model/facts.ts';
import type { Probe } from '../model/probe.ts';
import { type AttemptCores, attemptCoresOf } from './attempt-cores.ts';
import type { AttemptOptions } from './attempt-options.ts';

/** The adaptive rate delays the next attempts for shorter waits itself. */
const PACED_CLOSURE_MS = 2_000;

/** What is around the gate of attempts. */
export interface AttemptSurroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly probe: Probe | undefined;
  readonly feedback: FeedbackSubject;
  /** Whose limit adapts. */
  readonly concurrency: Gate<Slots>;
  /** Told of every change; the probe is told in any case. */
  readonly tell?: Tell | undefined;
  /** Limits that other gates share. */
  readonly commons?: Commons | undefined;
  /** Of the gate's queue. */
  readonly rules?: GateRules | undefined;
}

/** What every attempt passes, first or not: the backoff, and all else that is on. */
export interface AttemptGate {
  readonly gate: Gate;
  readonly cores: AttemptCores;
  /** Whether its rate adapts. */
  readonly isPaced: boolean;
  /** The least wait, named by an answer to its attempts, that closes the backoff gate, in ms. */
  readonly leastClosureMs: number;
  /** Whether answers that went well are read for what they say of usage and limits. */
  readonly readsAnswers: boolean;
  /** The cores were changed from outside: sets the timer anew, and lets pass whoever may. */
  changed(): void;
  /** Disarms what time would change, for good. */
  close(): void;
}

/**
 * One gate for all that an attempt needs, so that it is decided at once: a rate limit that stood
 * behind the backoff would send during one, and one before it would send a burst when it ends.
 *
 * @throws RangeError or TypeError that names a wrong option
 */
export function openAttemptGate(options: AttemptOptions, around: AttemptSurroundings): AttemptGate {
  const { clock, random, probe, feedback, concurrency, commons, rules } = around;
  const slots = concurrency.core;
  const tell = (fact: CoreFact) => {
    arm();
    probe?.changed?.(fact);
    around.tell?.(fact);
  };
  const apply = (limit: number) => {
    slots.limit = limit;
    concurrency.drain();
  };
  const now = clock.now();
  const cores = attemptCoresOf(options, {
    now,
    random,
    maxLimit: slots.limit,
    maxRetryAfterMs: feedback.maxRetryAfterMs,
    apply,
    tell,
    ignoreUnknown: commons !== undefined,
  });
  const { adaptive, rateLimit } = cores;
  const isPaced = adaptive instanceof AdaptiveRateCore;
  const leastClosureMs = isPaced ? PACED_CLOSURE_MS : 0;
  const readsAnswers = isPaced || rateLimit?.limits.isSettled('tokens') === true;
  if (adaptive !== undefined) slots.limit = adaptive.limit;
  const parts = partsOf(cores);
  if (parts.length === 0 && commons === undefined && rules === undefined) {
    return {
      gate: feedback.gate,
      cores,
      isPaced,
      leastClosureMs,
      readsAnswers,
      changed: () => feedback.gate.drain(),
      close: () => {},
    };
  }
  const backoff = feedback.partOf(() => gate.drain());
  const composite = new Composite([{ kind: 'backoff', core: backoff }, ...parts]);
  const isPlain = isPaced && parts.length === 1;
  const own = parts.length === 0 ? backoff : isPlain ? new PacedCore(backoff, adaptive) : composite;
  const core = commons?.coreOf(own, () => gate.drain()) ?? own;
  const gate: Gate = new Gate('backoff', core, clock, probe, rules);
  const wake = () => {
    composite.advance(clock.now());
    arm();
    gate.drain();
  };
  const waker = new Waker(clock, wake, false);
  let closed = false;
  function arm(): void {
    if (closed) return;
    const at = clock.now();
    waker.set(composite.nextChangeAt - at, at);
  }
  arm();
  const close = () => {
    closed = true;
    waker.cancel();
  };
  return { gate, cores, isPaced, leastClosureMs, readsAnswers, changed: wake, close };
}

/**
 * Charges are given back from the last to the first: what adapts the concurrency, which may let others
 * in, learns of an answer when it has been counted for all that these have to wait for.
 */
function partsOf({ circuitBreaker, rateLimit, pace, adaptive }: AttemptCores): Part[] {
  const parts: Part[] = [];
  if (adaptive !== undefined) {
    const kind = adaptive instanceof AdaptiveRateCore ? 'pace' : 'concurrency';
    parts.push({ kind, core: adaptive });
  }
  if (circuitBreaker !== undefined) parts.push({ kind: 'circuitBreaker', core: circuitBreaker });
  if (rateLimit !== undefined) parts.push({ kind: 'rateLimit', core: rateLimit });
  if (pace !== undefined) parts.push({ kind: 'pace', core: pace });
  return parts;
}
