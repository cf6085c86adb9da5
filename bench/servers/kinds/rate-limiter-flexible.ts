/** rate-limiter-flexible in memory, with the Retry-After that its documentation shows. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { listen } from '../listen.ts';
import type { Server } from '../server.ts';
import { WINDOW, WINDOW_TEXT } from './window.ts';

export const rateLimiterFlexible = {
  'rate-limiter-flexible': {
    about: `rate-limiter-flexible: ${WINDOW_TEXT}, Retry-After with decimals on rejections alone`,
    limit: WINDOW,
    latencyMs: 0,
    open: () => {
      const limiter = new RateLimiterMemory({
        points: WINDOW.limit,
        duration: WINDOW.windowMs / 1000,
      });
      return listen(async (request, response) => {
        try {
          await limiter.consume(request.socket.remoteAddress ?? '');
          response.end('ok');
        } catch (rejection) {
          if (!(rejection instanceof RateLimiterRes)) throw rejection;
          response.writeHead(429, { 'Retry-After': `${rejection.msBeforeNext / 1000}` });
          response.end('Too Many Requests');
        }
      });
    },
  },
} satisfies Record<string, Server>;
