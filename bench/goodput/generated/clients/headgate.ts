/** headgate: a limiter with its defaults, or with the provider's limits. */
import {
  createLimiter,
  type LimiterOptions,
  QuotaExhaustedError,
  type RateLimit,
  RetryAfterTooLongError,
} from 'headgate';
import type { SharedStore } from 'headgate/advanced';
import { Observable, Subject } from 'rxjs';
import { AnswerError, type ClientContext, type Request, type RunningClient } from '../client.ts';
import { type LimitSpec, limitSpecs } from '../limit-specs.ts';
import type { Answer } from '../server.ts';
import type { Scenario } from '../space.ts';
import { inFlightOf } from './documented.ts';

const BYTES_PER_TOKEN = 4;
const SECOND_MS = 1_000;

type Mode = 'defaults' | 'known';

/** @param shared the store, if it is one of several limiters that act as one */
export const headgate =
  (mode: Mode) =>
  (context: ClientContext, shared?: SharedStore): RunningClient => {
    const { scenario, clock, random, concurrency, send, lost, failed } = context;
    const { options, costs } = mode === 'known' ? told(context) : { options: {}, costs: {} };
    const store = shared === undefined ? {} : { shared };
    const limiter = createLimiter({ concurrency, ...options, ...store, clock, random });
    // Use callbacks: results arrive in the callback of a timer, without a turn of the event loop.
    const attempt = (request: Request) =>
      new Observable<Answer>((out) => {
        send(request, (answer) => {
          if (answer.status !== 200) return out.error(new AnswerError(answer));
          out.next(answer);
          out.complete();
        });
      });
    const requests = new Subject<Request>();
    requests
      .pipe(
        limiter.throttle(attempt, {
          outcomes: true,
          ...sizesOf(scenario, mode),
          ...('longer' in costs && { costs: () => costs }),
        }),
      )
      .subscribe({
        next: (outcome) => {
          if (outcome.status === 'failed') lost(outcome.request, waitOf(outcome.error));
        },
        error: failed,
      });
    return {
      handOver: (request) => requests.next(request),
      snapshot: () => limiter.snapshot().adaptive,
    };
  };

/** The wait that the provider has asked for. Nothing is sent before its end. */
function waitOf(error: unknown): number | undefined {
  return error instanceof RetryAfterTooLongError || error instanceof QuotaExhaustedError
    ? error.retryAfterMs
    : undefined;
}

/**
 * The stated token cost of a request, given only if tokens are limited. It is at most the limit, if
 * the user knows the limit: a larger request could never be sent, and would be submitted for ever.
 */
function sizesOf(scenario: Scenario, mode: Mode) {
  const { kind, estimateBias } = scenario;
  if (kind !== 'requests-and-tokens') return {};
  const most = mode === 'known' ? tokensAtMost(scenario) : Number.POSITIVE_INFINITY;
  return {
    estimate: ({ tokens }: Request) => {
      const estimated = Math.min(most, Math.max(1, Math.round(tokens * estimateBias)));
      return { bytes: BYTES_PER_TOKEN * estimated, tokens: estimated };
    },
  };
}

/** The tokens of a request, at most those that the limit admits. */
function tokensAtMost(scenario: Scenario): number {
  const bursts = limitSpecs(scenario).map((spec) =>
    spec.algorithm === 'bucket' && spec.unit === 'tokens' ? spec.burst : Number.POSITIVE_INFINITY,
  );
  return Math.floor(Math.min(...bursts));
}

/** The first limit of a unit is named after the unit, so that requests are charged by default. */
function told(context: ClientContext): {
  readonly options: LimiterOptions;
  readonly costs: Readonly<Record<string, number>>;
} {
  const limits: Record<string, RateLimit> = {};
  const costs: Record<string, number> = {};
  for (const spec of limitSpecs(context.scenario)) {
    if (spec.algorithm === 'cap') return { options: { concurrency: inFlightOf(context) }, costs };
    const name = spec.unit in limits ? 'longer' : spec.unit;
    limits[name] = rateLimitOf(spec);
    if (spec.unit === 'requests') costs[name] = 1;
  }
  return { options: { limits }, costs };
}

function rateLimitOf(spec: Exclude<LimitSpec, { algorithm: 'cap' }>): RateLimit {
  if (spec.algorithm === 'bucket') {
    const { perMs, burst } = spec;
    const windowMs = Math.max(SECOND_MS, 1 / perMs);
    // Round up: a limit must be at least 1, and sums of fractions are inexact.
    return { algorithm: 'token-bucket', limit: Math.max(1, perMs * windowMs), windowMs, burst };
  }
  const { algorithm, limit, windowMs } = spec;
  const isSliding = algorithm === 'log' || algorithm === 'counter';
  return { algorithm: isSliding ? 'sliding-window' : 'fixed-window', limit, windowMs };
}
