import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, createLimiterGroup, throttleFrom } from '../../../src/index.ts';
import { parentOf, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

const NUMBERS = Array.from({ length: 20 }, (_, n) => n);

async function* numbersLater() {
  for (const n of NUMBERS) {
    await Promise.resolve();
    yield n;
  }
}

const send = async (n: number) => {
  await Promise.resolve();
  return n;
};

/** Runs a program in a span of its own, and returns the id of the span. */
async function called(program: () => Promise<unknown>): Promise<string> {
  return await sdk.tracer.startActiveSpan('caller', async (span) => {
    await program();
    span.end();
    return span.spanContext().spanId;
  });
}

describe('the requests of a source that is read as others are sent or end', () => {
  const limiter = () => createLimiter({ concurrency: 2 });
  const group = () => createLimiterGroup<number>((n) => `${n % 3}`, { each: { concurrency: 1 } });
  const programs: Readonly<Record<string, () => Promise<unknown>>> = {
    'limiter.map': () => limiter().map(NUMBERS, send),
    'limiter.map, async source': () => limiter().map(numbersLater(), send, { outcomes: true }),
    'group.map': () => group().map(NUMBERS, send),
    throttleFrom: () =>
      lastValueFrom(throttleFrom(NUMBERS, send, { concurrency: 2 }).pipe(toArray())),
    'limiter.throttleFrom, async source': () =>
      lastValueFrom(limiter().throttleFrom(numbersLater(), send).pipe(toArray())),
    'group.throttleFrom': () =>
      lastValueFrom(group().throttleFrom(NUMBERS, send, { readAhead: 2 }).pipe(toArray())),
  };

  it.each(Object.entries(programs))(
    'are below the caller, not below others: %s',
    async (_, run) => {
      const caller = await called(run);
      const requests = sdk.finished('headgate.request');
      expect(requests).toHaveLength(NUMBERS.length);
      expect(new Set(requests.map(parentOf))).toEqual(new Set([caller]));
    },
  );

  it.each(Object.entries(programs))(
    'have a trace each if no span is active: %s',
    async (_, run) => {
      await run();
      const requests = sdk.finished('headgate.request');
      expect(new Set(requests.map(parentOf))).toEqual(new Set([undefined]));
      expect(new Set(requests.map((span) => span.spanContext().traceId)).size).toBe(NUMBERS.length);
    },
  );
});

it('the spans of the body of `use` are below the attempt of its lease', async () => {
  const limiter = createLimiter({ concurrency: 1 });
  const call = () => limiter.use(async () => sdk.tracer.startSpan('client').end());
  const caller = await called(() => Promise.all([call(), call()]));
  const [attempts, requests] = [sdk.finished('headgate.attempt'), sdk.finished('headgate.request')];
  const idsOf = (spans: typeof attempts) => spans.map((span) => span.spanContext().spanId);
  expect(sdk.finished('client').map(parentOf)).toEqual(idsOf(attempts));
  expect(attempts.map(parentOf)).toEqual(idsOf(requests));
  expect(requests.map(parentOf)).toEqual([caller, caller]);
  const failing = limiter.use(() => {
    throw new Error('mine');
  });
  await expect(failing).rejects.toThrow('mine');
  expect(sdk.finished('headgate.request').at(-1)?.attributes['headgate.outcome']).toBe('failed');
});
