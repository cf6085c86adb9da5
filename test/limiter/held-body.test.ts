import { describe, expect, it } from 'vitest';
import { type BodyHolder, heldBody, heldParts } from '../../src/limiter/held-body.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { leastGrowth } from '../support/memory.ts';

const PART_BYTES = 64 * 1024;
/** The parts that one measurement reads; there are up to five. */
const PARTS = 80;

function holderWith(attemptSignal: AbortSignal): BodyHolder {
  return { attemptSignal, ended() {}, leftUnread() {}, failed() {} };
}

/** Parts that are not transferred to the reader, as those of test doubles and of the AI SDK. */
function partsOf(count: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > count) controller.close();
      else controller.enqueue(new Uint8Array(PART_BYTES));
    },
  });
}

describe('a held body', () => {
  it.each([
    ['of bytes', heldBody],
    ['of parts', (...given: Parameters<typeof heldBody>) => heldParts(...given, 4)],
  ])('%s keeps no part alive that was read', async (_name, hold) => {
    const bound = (PARTS * PART_BYTES) / 8;
    const { signal } = new AbortController();
    const held = hold(partsOf(5 * PARTS + 1), holderWith(signal), new ManualClock());
    const reader = held.getReader();
    const growth = await leastGrowth(bound, async () => {
      for (let n = 0; n < PARTS; n += 1) expect((await reader.read()).done).toBe(false);
    });
    expect(growth).toBeLessThan(bound);
  });

  it('fails at the next read after an abort, though its source goes on', async () => {
    const controller = new AbortController();
    const held = heldParts(partsOf(PARTS), holderWith(controller.signal), new ManualClock(), 1);
    const reader = held.getReader();
    await reader.read();
    const reason = new Error('enough');
    controller.abort(reason);
    // What was read ahead comes first.
    const reads = async () => {
      for (let n = 0; n < 4; n += 1) await reader.read();
    };
    await expect(reads()).rejects.toBe(reason);
  });
});
