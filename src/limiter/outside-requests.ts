import { AimdPolicy } from '../policies/aimd-policy.ts';
import { type Classifier, OK, verdictOn } from '../providers/classify.ts';
import { checkAmount, checkKeys, checkNumber } from '../util/check.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';

/** The amounts of a request that was sent without the limiter. */
export interface RecordedSuccess {
  /** Charged to the limit with the name `tokens`, if there is one. */
  readonly tokens?: number;
  readonly durationMs?: number;
}

const FAILED = { kind: 'failed' } as const;

/** Records requests that were sent without a limiter: its counts and policies include them. */
export class OutsideRequests {
  private readonly runtime: LimiterRuntime;
  private readonly classify: Classifier;

  constructor(runtime: LimiterRuntime, classify: Classifier) {
    this.runtime = runtime;
    this.classify = classify;
  }

  /** See `Limiter.recordSuccess`. */
  succeeded(amounts: RecordedSuccess): void {
    checkKeys('limiter.recordSuccess', amounts, ['tokens', 'durationMs']);
    const { tokens, durationMs } = amounts;
    const { counters, gate, clock } = this.runtime;
    if (durationMs !== undefined) checkNumber('durationMs', durationMs, 0);
    if (tokens !== undefined) this.used(tokens);
    counters.recorded('ok', durationMs);
    gate.policies.circuitBreaker?.recordVerdict(OK, clock.now());
    gate.feedback.next(OK);
  }

  /** See `Limiter.recordFailure`. */
  failed(error: unknown): void {
    const { counters, gate, clock } = this.runtime;
    const { circuitBreaker, adaptive } = gate.policies;
    const verdict = error === undefined ? FAILED : verdictOn(error, this.classify);
    counters.recorded('failed', undefined);
    const now = clock.now();
    circuitBreaker?.recordVerdict(verdict, now);
    if (adaptive instanceof AimdPolicy) adaptive.recordVerdict(verdict, now);
    gate.feedback.next(verdict);
    gate.changed();
  }

  /** See `Limiter.recordTokens`. */
  used(tokens: number): void {
    const { gate, clock } = this.runtime;
    const amount = checkAmount('tokens', tokens);
    const limits = gate.policies.rateLimit?.limits;
    if (limits?.names.includes('tokens')) limits.charge({ tokens: amount }, clock.now());
    gate.fleet?.used(amount);
  }
}
