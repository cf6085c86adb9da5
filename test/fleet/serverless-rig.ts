import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { LimiterOptions } from '../../src/index.ts';
import { createProvider } from '../../src/simulator/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import type { ProviderOptions } from '../../src/simulator/provider-options.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { Container } from './container.ts';
import { mostIn } from './rig.ts';

const MINUTE_MS = 60_000;

/** Functions of a serverless platform that call one provider. */
export interface Functions {
  readonly seed: number;
  readonly provider: ProviderOptions;
  readonly limiter?: LimiterOptions;
  /**
   * After an invocation its container is closed, is frozen until the next invocation, or is killed
   * without a word.
   */
  readonly end: 'closed' | 'frozen' | 'killed';
  /** How many invocations arrive in a minute, run at once, and the most requests of one. */
  readonly perMinute: number;
  readonly atOnce: number;
  readonly most: number;
  readonly callMs: number;
  readonly minutes: number;
}

/** Runs the functions, and then lets those that have begun end. */
export async function runFunctions(functions: Functions) {
  const { seed, end, perMinute, atOnce, most, callMs, minutes } = functions;
  const clock = new ManualClock(1_000);
  const random = seededRandom(seed);
  const provider = createProvider({ clock, seed, ...functions.provider });
  const store = memoryStore({ clock });
  const sends: { at: number; cost: number }[] = [];
  const waits: { at: number; ms: number }[] = [];
  const warm: Container[] = [];
  const queue: number[] = [];
  const figures = { rejected: 0, failed: 0, open: 0, keptAlive: 0, containers: 0 };
  let running = 0;

  const container = () => {
    const used = warm.pop();
    used?.thaw();
    if (used !== undefined) return used;
    figures.containers += 1;
    return new Container(clock, seed + figures.containers, functions.limiter ?? {}, store, callMs);
  };
  const send = async (own: Container) => {
    const arrivedAt = clock.now();
    let isFirst = true;
    const attempt = () => {
      const at = clock.now();
      if (isFirst) waits.push({ at, ms: at - arrivedAt });
      isFirst = false;
      const onAdmitted = () => sends.push({ at, cost: 1 });
      const request = { inputTokens: 1_000, maxTokens: 0, onAdmitted };
      return own.receive(provider.submitOrThrow(request));
    };
    figures.open += 1;
    const count = (error: { readonly status?: number }) => {
      if (error.status === 429) figures.rejected += 1;
      throw error;
    };
    await own.limiter
      .run(() => attempt().catch(count), { tokens: 1_000 })
      .catch(() => {
        figures.failed += 1;
      });
    figures.open -= 1;
  };
  const invoke = async (requests: number) => {
    running += 1;
    const own = container();
    await Promise.all(Array.from({ length: requests }, () => send(own)));
    if (end === 'closed') {
      own.limiter.close();
      await own.limiter.drain();
      figures.keptAlive += own.keepAlive;
    }
    own.state = end === 'frozen' ? 'frozen' : 'killed';
    if (end === 'frozen') warm.push(own);
    running -= 1;
    next();
  };
  const next = () => {
    while (running < atOnce && queue.length > 0) invoke(queue.shift() ?? 0).catch(() => {});
  };
  for (let at = 0; at < minutes * MINUTE_MS; ) {
    at += (-Math.log(1 - random()) * MINUTE_MS) / perMinute;
    const requests = 1 + Math.floor(most * random());
    clock.setTimer(() => {
      queue.push(requests);
      next();
    }, at);
  }
  await clock.advanceAsync(minutes * MINUTE_MS);
  const isMeasured = ({ at }: { at: number }) => at > 1_000 + MINUTE_MS;
  const accepted = sends.filter(isMeasured).length / (minutes - 1);
  queue.length = 0;
  await clock.advanceAsync(5 * MINUTE_MS);
  const longestMs = Math.max(...waits.filter(isMeasured).map(({ ms }) => ms));
  return { ...figures, acceptedPerMinute: accepted, longestMs, most: mostIn(sends, MINUTE_MS) };
}
