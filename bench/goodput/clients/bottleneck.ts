/** Bottleneck in the two ways its README shows for rates: a reservoir, and a least time between jobs. */
import Bottleneck from 'bottleneck';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';
import { type Documented, documented } from './documented.ts';
import { fullJitter } from './helpers.ts';

const BASE_MS = 1000;
const MOST_MS = 30_000;
/** Bottleneck asks for a multiple of this. */
const REFRESH_STEP_MS = 250;

/** @param kind `reservoir`: a window's worth at once. `paced`: evenly, at the documented rate */
export const bottleneck =
  (kind: 'reservoir' | 'paced') =>
  ({ random, scenario, send, lost }: ClientContext): HandOver => {
    const told = documented(scenario);
    const isWeighed = kind === 'reservoir' && told.limits[0]?.unit === 'tokens';
    const limiter = new Bottleneck({
      // Weights count there, too, and tokens are no slots.
      ...(!isWeighed && { maxConcurrent: told.inFlight }),
      ...(kind === 'reservoir' ? reservoir(told) : { minTime: 1000 / told.perSecond }),
    });
    limiter.on('failed', (_error, { retryCount }) =>
      fullJitter(random, retryCount + 1, BASE_MS, MOST_MS),
    );
    return (prompt) => {
      const weight = isWeighed ? tokensOf(prompt) : 1;
      limiter.schedule({ weight }, () => send(prompt)).catch(() => lost(prompt));
    };
  };

function reservoir({ limits: [limit] }: Documented) {
  if (limit === undefined) return {};
  const amount = Math.floor(limit.limit);
  return {
    reservoir: amount,
    reservoirRefreshAmount: amount,
    reservoirRefreshInterval: Math.ceil(limit.windowMs / REFRESH_STEP_MS) * REFRESH_STEP_MS,
  };
}

function tokensOf({ messages, max_tokens }: Prompt): number {
  return messages.reduce((sum, { content }) => sum + content.length / 4, max_tokens);
}
