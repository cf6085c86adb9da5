/** The library itself: as an operator, as a `fetch`, and told the limit. */
import { createLimiter, type ThrottleOptions, throttle } from 'headgate';
import { lastValueFrom, range } from 'rxjs';
import { type Client, type ClientContext, send } from '../client.ts';
import type { Limit } from '../limit.ts';

export const headgate = {
  headgate: {
    about: 'throttle(send)',
    run: (context) => throughThrottle(context, {}),
  },
  'headgate-fetch': {
    about: 'createLimiter().fetch',
    run: throughFetch,
  },
  'headgate-known': {
    about: 'throttle(send, { limits }), or { concurrency }, as the server has it',
    run: (context) => throughThrottle(context, optionsOf(context.limit)),
  },
} satisfies Record<string, Client>;

function throughThrottle(
  { endpoint, requests }: ClientContext,
  options: ThrottleOptions<number>,
): Promise<unknown> {
  const attempt = (_: number, { signal }: { signal: AbortSignal }) => send(endpoint, signal);
  const outcomes = range(0, requests).pipe(throttle(attempt, { ...options, outcomes: true }));
  return lastValueFrom(outcomes);
}

async function throughFetch({ endpoint, requests }: ClientContext): Promise<void> {
  const limiter = createLimiter();
  const { url, ...init } = endpoint;
  const ask = async () => {
    const response = await limiter.fetch(url, init);
    await response.arrayBuffer();
  };
  await Promise.allSettled(Array.from({ length: requests }, ask));
}

/** What someone who has read the server's configuration would say. */
export function optionsOf(limit: Limit): ThrottleOptions<number> {
  switch (limit.kind) {
    case 'spaced': {
      const { perSecond, burst } = limit;
      const algorithm = 'token-bucket';
      return { limits: { requests: { limit: perSecond, windowMs: 1000, algorithm, burst } } };
    }
    case 'window': {
      const { windowMs } = limit;
      return { limits: { requests: { limit: limit.limit, windowMs, algorithm: 'fixed-window' } } };
    }
    case 'sliding':
      return { limits: { requests: { limit: limit.limit, windowMs: limit.windowMs } } };
    case 'in-flight':
      return { concurrency: limit.limit };
  }
}
