/**
 * Knows the provider's state and sends the oldest prompt that fits as soon as the provider accepts
 * it. No client can do better, except by luck with prompts of different sizes.
 */
import type { Timer } from 'headgate/advanced';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';

/** Capacity may change at each full second, so no wait is longer. */
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
    // Another worker can take the capacity at the same instant.
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
    // Prompts of the same size fit no sooner than the waiting ones.
    else if (!areAlike && waitMs(prompt) === 0) attempt(prompt);
  }

  return hand;
}
