/** headgate: a stream of prompts through `throttle`. */
import { type RateLimit, type ThrottleOptions, throttle } from 'headgate';
import type { LimitOptions } from 'headgate/simulator';
import { Subject } from 'rxjs';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';
import type { Scenario } from '../scenario.ts';

/** `plain`: without any options. `known`: given the provider's limits. */
export type Mode = 'plain' | 'known';

export const headgate =
  (mode: Mode) =>
  ({ scenario, clock, random, send, failed }: ClientContext): HandOver => {
    const prompts = new Subject<Prompt>();
    const limits = mode === 'known' ? knownLimits(scenario) : {};
    prompts.pipe(throttle(send, { ...limits, clock, random })).subscribe({ error: failed });
    return (prompt) => prompts.next(prompt);
  };

/** The provider's limits. Each of several independent workers gets an equal share. */
function knownLimits({ provider, workers }: Scenario): ThrottleOptions<Prompt> {
  const { limits = [], concurrency } = provider;
  const named = limits.map((limit) => [limit.name ?? limit.unit, shareOf(limit, workers)]);
  return {
    ...(limits.length > 0 && { limits: Object.fromEntries(named) }),
    ...(limits.some(({ unit }) => unit === 'tokens') && { estimate }),
    ...(concurrency && {
      concurrency: Math.floor((concurrency.units + (concurrency.queue ?? 0)) / workers),
    }),
  };
}

function shareOf(limit: LimitOptions, workers: number): RateLimit {
  const { algorithm, windowMs, burst, charge } = limit;
  return {
    algorithm,
    windowMs,
    limit: limit.limit / workers,
    ...(burst !== undefined && { burst: burst / workers }),
    ...(charge !== undefined && { charge }),
  };
}

/** A user who knows the limits also knows the charge: the input tokens and `max_tokens`. */
function estimate({ messages, max_tokens }: Prompt) {
  const bytes = messages.reduce((sum, { content }) => sum + content.length, 0);
  return { bytes, tokens: bytes / 4 + max_tokens };
}
