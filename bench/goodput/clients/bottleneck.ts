/**
 * Bottleneck configured as its README shows for rates: two kinds of reservoir, or a minimum time
 * between jobs.
 */
import Bottleneck from 'bottleneck';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';
import { type Documented, documented } from './documented.ts';
import { fullJitter } from './helpers.ts';

const BASE_MS = 1000;
const MOST_MS = 30_000;
/** Bottleneck requires a multiple of this interval. */
const STEP_MS = 250;

type Kind = 'reservoir' | 'bucket' | 'paced';

/**
 * @param kind `reservoir`: refilled once a window. `bucket`: a reservoir for one second that is
 * refilled in small steps. `paced`: evenly spaced jobs at the documented rate
 */
export const bottleneck =
  (kind: Kind) =>
  ({ random, scenario, send, lost }: ClientContext): HandOver => {
    const told = documented(scenario);
    const isWeighed = kind === 'reservoir' && told.limits[0]?.unit === 'tokens';
    const limiter = new Bottleneck({
      // Bottleneck subtracts weights from slots too, so token limits cannot be combined with slots.
      ...(!isWeighed && { maxConcurrent: told.inFlight }),
      ...SETTINGS[kind](told),
    });
    limiter.on('failed', (_error, { retryCount }) =>
      fullJitter(random, retryCount + 1, BASE_MS, MOST_MS),
    );
    return (prompt) => {
      const weight = isWeighed ? tokensOf(prompt) : 1;
      limiter.schedule({ weight }, () => send(prompt)).catch(() => lost(prompt));
    };
  };

const SETTINGS: Readonly<Record<Kind, (told: Documented) => Bottleneck.ConstructorOptions>> = {
  reservoir: ({ limits: [limit] }) => {
    if (limit === undefined) return {};
    const amount = Math.floor(limit.limit);
    return {
      reservoir: amount,
      reservoirRefreshAmount: amount,
      reservoirRefreshInterval: Math.ceil(limit.windowMs / STEP_MS) * STEP_MS,
    };
  },
  bucket: ({ perSecond }) =>
    Number.isFinite(perSecond)
      ? {
          reservoir: Math.floor(perSecond),
          reservoirIncreaseAmount: Math.max(1, Math.floor(perSecond)),
          reservoirIncreaseMaximum: Math.max(1, Math.floor(perSecond)),
          reservoirIncreaseInterval: 1000,
        }
      : {},
  paced: ({ perSecond }) => ({ minTime: 1000 / perSecond }),
};

function tokensOf({ messages, max_tokens }: Prompt): number {
  return messages.reduce((sum, { content }) => sum + content.length / 4, max_tokens);
}
