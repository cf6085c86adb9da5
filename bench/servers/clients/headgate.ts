/** headgate: as an operator, as a `fetch`, and with the server's limit as option. */
import { createLimiter, type ThrottleOptions, throttle } from 'headgate';
import { range } from 'rxjs';
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
  { endpoint, requests, ended }: ClientContext,
  options: ThrottleOptions<number>,
): Promise<void> {
  const attempt = (_: number, { signal }: { signal: AbortSignal }) => send(endpoint, signal);
  const outcomes = range(0, requests).pipe(throttle(attempt, { ...options, outcomes: true }));
  return outcomes.forEach(({ request, status }) => {
    ended(request, status === 'ok');
  });
}

async function throughFetch({ endpoint, requests, ended }: ClientContext): Promise<void> {
  const limiter = createLimiter();
  const { url, ...init } = endpoint;
  const ask = async (request: number) => {
    const isOk = await answerOf(limiter.fetch(url, init)).catch(() => false);
    ended(request, isOk);
  };
  await Promise.all(Array.from({ length: requests }, (_, request) => ask(request)));
}

/** @returns whether the response is successful and complete */
async function answerOf(answer: Promise<Response>): Promise<boolean> {
  const response = await answer;
  await response.arrayBuffer();
  return response.ok;
}

/** The options of a user who has read the server's configuration. */
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
