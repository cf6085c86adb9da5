/** express-rate-limit, with the headers of three drafts of the IETF. */
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { listen } from '../listen.ts';
import type { Server } from '../server.ts';
import { WINDOW, WINDOW_TEXT } from './window.ts';

export const expressRateLimit = {
  'express-draft-6': withHeaders('draft-6'),
  'express-draft-7': withHeaders('draft-7'),
  'express-draft-8': withHeaders('draft-8'),
} satisfies Record<string, Server>;

function withHeaders(standardHeaders: 'draft-6' | 'draft-7' | 'draft-8'): Server {
  const { limit, windowMs } = WINDOW;
  return {
    about: `express-rate-limit: ${WINDOW_TEXT}, headers of ${standardHeaders}`,
    limit: WINDOW,
    latencyMs: 0,
    open: () => {
      const app = express();
      app.use(rateLimit({ limit, windowMs, standardHeaders, legacyHeaders: false }));
      app.get('/', (_, response) => {
        response.send('ok');
      });
      return listen(app);
    },
  };
}
