/**
 * A model of the sampling client of the Tinker SDK 0.7: 400 slots and 5 MiB in flight. While a
 * backoff is recent, 10 slots, and bytes count twenty times. After a 429 nothing is sent for 1 s (5
 * s if the request had more than 128 KiB), which is checked once a second.
 */
import pLimit from 'p-limit';
import type { ClientContext, HandOver } from '../client.ts';
import { type Prompt, requestOf } from '../prompts.ts';
import { sleep } from './helpers.ts';

const SLOTS = 400;
const THROTTLED_SLOTS = 10;
const MAX_BYTES = 5 * 1024 * 1024;
const BYTE_FACTOR = 20;
const RECENT_MS = 10_000;
const POLL_MS = 1000;
const LARGE_BYTES = 128 * 1024;
const BACKOFF_MS = 1000;
const LARGE_BACKOFF_MS = 5000;

/** Admits a request while the balance is not negative. The request may make it negative. */
class ByteBudget {
  #left = MAX_BYTES;
  #waiting: (() => void)[] = [];

  async take(bytes: number): Promise<void> {
    while (this.#left < 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#left -= bytes;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

export function tinker({ clock, send }: ClientContext): HandOver {
  const slots = pLimit(SLOTS);
  const throttledSlots = pLimit(THROTTLED_SLOTS);
  const budget = new ByteBudget();
  let backoffUntil = Number.NEGATIVE_INFINITY;
  const isRecent = () => clock.now() - backoffUntil < RECENT_MS;

  async function sendPaid(prompt: Prompt): Promise<void> {
    const bytes = requestOf(prompt).bytes ?? 0;
    const charged = isRecent() ? bytes * BYTE_FACTOR : bytes;
    await budget.take(charged);
    for (;;) {
      while (clock.now() < backoffUntil) await sleep(clock, POLL_MS);
      try {
        await send(prompt);
        break;
      } catch {
        backoffUntil = clock.now() + (bytes <= LARGE_BYTES ? BACKOFF_MS : LARGE_BACKOFF_MS);
      }
    }
    budget.giveBack(charged);
  }

  return (prompt) => {
    slots(() => (isRecent() ? throttledSlots(sendPaid, prompt) : sendPaid(prompt)));
  };
}
