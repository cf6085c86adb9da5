/**
 * Knows the provider's state and sends whatever would be let in, as soon as it would: the oldest
 * prompt that fits. No client can do better, but for luck with prompts of different sizes.
 */
import type { Timer } from 'headgate/advanced';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';

/** Capacity may change at each full second, so nobody waits past the next. */
const SECOND_MS = 1000;

export function omniscient({ clock, scenario, send, waitMs }: ClientContext): HandOver {
  const queue = new Set<Prompt>();
  const areAlike = scenario.prompts.sigma === 0;
  const { concurrency, limits = [] } = scenario.provider;
  const answersMakeRoom =
    concurrency !== undefined || limits.some(({ charge = 'upfront' }) => charge !== 'upfront');
  let timer: Timer | undefined;

  function attempt(prompt: Prompt): void {
    queue.delete(prompt);
    // Room can be lost to another worker within the same instant.
    const sent = send(prompt).catch(() => hand(prompt));
    if (answersMakeRoom) sent.then(sendAll);
  }

  function sendAll(): void {
    timer?.cancel();
    const now = clock.now();
    let shortestMs = SECOND_MS - (now % SECOND_MS);
    for (const prompt of queue) {
      const needMs = waitMs(prompt);
      if (needMs === 0) attempt(prompt);
      else shortestMs = Math.min(shortestMs, needMs);
      if (needMs > 0 && areAlike) break;
    }
    timer = queue.size > 0 ? clock.setTimer(sendAll, shortestMs) : undefined;
  }

  function hand(prompt: Prompt): void {
    queue.add(prompt);
    if (queue.size === 1) sendAll();
    // Where the others do not fit, one that is no smaller does not.
    else if (!areAlike && waitMs(prompt) === 0) attempt(prompt);
  }

  return hand;
}
