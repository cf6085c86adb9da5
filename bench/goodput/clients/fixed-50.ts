/**
 * Fifty requests at a time, each retried for ever, after 0.5 s doubling to 8 s with full jitter.
 */
import pLimit from 'p-limit';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';
import { fullJitter, sleep } from './helpers.ts';

const SLOTS = 50;
const BASE_MS = 500;
const MOST_MS = 8000;

export function fixed50({ clock, random, scenario, send }: ClientContext): HandOver {
  const limit = pLimit(Math.max(1, Math.floor(SLOTS / scenario.workers)));
  async function run(prompt: Prompt): Promise<void> {
    for (let failures = 1; ; failures++) {
      try {
        await send(prompt);
        return;
      } catch {
        await sleep(clock, fullJitter(random, failures, BASE_MS, MOST_MS));
      }
    }
  }
  return (prompt) => {
    limit(run, prompt);
  };
}
