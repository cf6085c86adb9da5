/** The library itself: a stream of prompts through `throttle`. */
import { type RateLimit, type ThrottleOptions, throttle } from 'headgate';
import type { LimitOptions } from 'headgate/simulator';
import { Subject } from 'rxjs';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';
import type { Scenario } from '../scenario.ts';

/**
 * `plain`: no options at all. `headers` and `unknown` differ in what the provider tells them, not in
 * their options.
 */
export type Mode = 'plain' | 'unknown' | 'headers' | 'known';

/** What a user who knows so much would say. */
export function headgateOptions(scenario: Scenario, mode: Mode): ThrottleOptions<Prompt> {
  if (mode === 'plain') return {};
  return { adaptive: true, ...(mode === 'known' && knownLimits(scenario)) };
}

export const headgate =
  (mode: Mode) =>
  ({ scenario, clock, random, send, failed }: ClientContext): HandOver => {
    const prompts = new Subject<Prompt>();
    prompts
      .pipe(throttle(send, { ...headgateOptions(scenario, mode), clock, random }))
      .subscribe({ error: failed });
    return (prompt) => prompts.next(prompt);
  };

/** The provider's limits; workers that know nothing of each other have been given equal shares. */
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

/** Whoever knows the limits knows what is charged: what is put in, and `max_tokens`. */
function estimate({ messages, max_tokens }: Prompt) {
  const bytes = messages.reduce((sum, { content }) => sum + content.length, 0);
  return { bytes, tokens: bytes / 4 + max_tokens };
}
