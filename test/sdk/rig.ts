import { from, lastValueFrom, toArray } from 'rxjs';
import { expect } from 'vitest';
import { createLimiter, type LimiterOptions } from '../../src/index.ts';
import {
  createProvider,
  type FaultScript,
  type HttpFault,
  type ProviderOptions,
  serve,
} from '../../src/simulator/index.ts';
import { expectIdle } from '../limiter/harness.ts';
import type { Client, MakeClient } from './clients.ts';

// Real time: a real SDK over real sockets knows no other.

/** The first so many completions meet a fault. */
export function first(count: number, fault: HttpFault): FaultScript {
  return (index) => (index < count ? fault : undefined);
}

/** A provider that listens until the rig goes out of scope, and a limiter that counts attempts. */
export async function start(
  options: ProviderOptions = {},
  faults: FaultScript = () => undefined,
  limits: LimiterOptions = {},
) {
  const provider = createProvider({ latency: 20, ...options });
  const server = await serve(provider, { output: { mean: 100 }, faults });
  const sent = { attempts: 0 };
  const limiter = createLimiter({
    concurrency: 8,
    backoff: { backoffMs: 60, throttledForMs: 0 },
    // No request that failed alone waits before it is sent again.
    random: () => 0,
    instrumentation: {
      attemptStarted: () => {
        sent.attempts += 1;
      },
    },
    ...limits,
  });
  return { provider, server, limiter, sent, [Symbol.asyncDispose]: () => server.close() };
}

export type Rig = Awaited<ReturnType<typeof start>>;

/** The result of a prompt. */
export type Ended = { prompt: string } & (
  | { status: 'ok'; value: string }
  | { status: 'failed'; error: unknown }
);

/** Sends all prompts at once, through the limiter, and waits until all have ended. */
export type SendAll = (
  rig: Rig,
  make: MakeClient,
  how: (client: Client, prompt: string, signal: AbortSignal) => Promise<string>,
  prompts: readonly string[],
) => Promise<Ended[]>;

const inThrottle: SendAll = ({ limiter, server }, make, how, prompts) => {
  const client = make(server.url);
  const outcomes = from(prompts).pipe(
    limiter.throttle((prompt, { signal }) => how(client, prompt, signal), { outcomes: true }),
    toArray(),
  );
  return lastValueFrom(outcomes).then((all) =>
    all.map(({ request, ...ended }) => ({ prompt: request, ...ended })),
  );
};

const byFetch: SendAll = async ({ limiter, server }, make, how, prompts) => {
  const client = make(server.url, limiter.fetch);
  const { signal } = new AbortController();
  const all = await Promise.allSettled(prompts.map((prompt) => how(client, prompt, signal)));
  return all.map((ended, index) => {
    const prompt = prompts[index] ?? '';
    return ended.status === 'fulfilled'
      ? { prompt, status: 'ok', value: ended.value }
      : { prompt, status: 'failed', error: ended.reason };
  });
};

/** Both ways to pace an SDK. */
export const WAYS: readonly (readonly [string, SendAll])[] = [
  ['inside throttle', inThrottle],
  ['by limiter.fetch', byFetch],
];

/** Whole and streamed answers, both as their text. */
export const HOWS = {
  whole: (client: Client, prompt: string, signal: AbortSignal) => client.ask(prompt, signal),
  streamed: async (client: Client, prompt: string, signal: AbortSignal) => {
    let text = '';
    for await (const word of client.stream(prompt, signal)) text += word;
    return text;
  },
} as const;

export const PROMPTS = Array.from({ length: 8 }, (_, index) => `question ${index}`);

/** An answer of eight words: nothing of it is lost. */
export const WHOLE = /^\S+( \S+){7}$/;

/**
 * Each prompt has ended once, nothing is held, and nobody but the limiter has sent anything again.
 */
export function expectSettled({ limiter, server, sent }: Rig, ended: readonly Ended[]): void {
  expect(ended.map(({ prompt }) => prompt).toSorted()).toEqual(PROMPTS);
  expect(server.requests).toHaveLength(sent.attempts);
  expectIdle(limiter);
}

/** The answers, each whole; everything that failed is an error of the test. */
export function expectAnswers(ended: readonly Ended[]): void {
  for (const end of ended) {
    expect(end).toMatchObject({ status: 'ok', value: expect.stringMatching(WHOLE) });
  }
}
