import { range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { watch } from '../../request/harness.ts';

const REQUESTS = 300;

const reset = () => Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });

interface Server {
  /** Whether a request is let in, with so many others in progress. */
  readonly letsIn: (inProgress: number, now: number) => boolean;
  readonly answerMs: number;
  /** This request is never let in. */
  readonly broken?: number;
}

/** Runs all requests against a server that closes the connection of requests it rejects. */
async function run({ letsIn, answerMs, broken }: Server) {
  const clock = new ManualClock();
  const wait = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  let inProgress = 0;
  let closed = 0;
  let calls = 0;
  const send = async (n: number): Promise<number> => {
    calls += 1;
    await wait(1 + (calls % 3));
    if (n === broken || !letsIn(inProgress, clock.now())) {
      closed += 1;
      throw reset();
    }
    inProgress += 1;
    await wait(answerMs + (calls % 11));
    inProgress -= 1;
    return n;
  };
  const limiter = createLimiter({ clock });
  let outages = 0;
  limiter.events$.subscribe(({ kind }) => {
    if (kind === 'outageStarted') outages += 1;
  });
  const seen = watch(range(0, REQUESTS).pipe(limiter.throttle(send, { outcomes: true })));
  await clock.runAllAsync();
  limiter.close();
  const lost = seen.values.filter(({ status }) => status !== 'ok').map(({ request }) => request);
  return { lost, closed, outages, seconds: clock.now() / 1_000 };
}

/** A bucket of 20 that gets 20 a second. */
function bucket(): Server['letsIn'] {
  let left = 20;
  let at = 0;
  return (_, now) => {
    left = Math.min(20, left + (now - at) * 0.02);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

describe('a server that closes connections to reject requests', () => {
  it('gets no flood if it bounds those in progress, and no request is lost', async () => {
    const capped = { letsIn: (inProgress: number) => inProgress < 10, answerMs: 100 };
    const { lost, closed, seconds } = await run(capped);
    expect(lost).toEqual([]);
    expect(closed).toBeLessThan(150);
    expect(seconds).toBeLessThan(6);
  });

  it('gets no flood if it bounds their rate, and no request is lost', async () => {
    const { lost, closed, outages, seconds } = await run({ letsIn: bucket(), answerMs: 30 });
    expect(lost).toEqual([]);
    expect(closed).toBeLessThan(300);
    // Two are taken for outages; after that rejections are known.
    expect(outages).toBe(2);
    expect(seconds).toBeLessThan(20);
  });

  it('is found by answers that are slower than the probes of an outage', async () => {
    const capped = { letsIn: (inProgress: number) => inProgress < 10, answerMs: 2_000 };
    const { lost, closed, seconds } = await run(capped);
    expect(lost).toEqual([]);
    expect(closed).toBeLessThan(300);
    expect(seconds).toBeLessThan(90);
  });

  it('fails a request that it always rejects, and no other', async () => {
    const { lost, closed } = await run({ letsIn: bucket(), answerMs: 30, broken: 7 });
    expect(lost).toEqual([7]);
    expect(closed).toBeLessThan(400);
  });
});
