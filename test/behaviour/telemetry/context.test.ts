import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, createContextKey, trace } from '@opentelemetry/api';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { defer, delay, mergeMap, of, Subject, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chunkBy, createLimiter, createLimiterGroup, Sized, throttle } from '../../../src/index.ts';
import { parentOf, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

const KEY = createContextKey('user');
const within = <R>(value: number, run: () => R): R =>
  context.with(context.active().setValue(KEY, value), run);
const here = () => context.active().getValue(KEY);

describe('the context of a request', () => {
  it('is that of its arrival, in project at each attempt, and when its result is emitted', async () => {
    for (const ordered of [false, true]) {
      const source = new Subject<number>();
      const seen: unknown[] = [];
      const wrong: unknown[] = [];
      const tried = new Set<number>();
      const done = new Promise<void>((resolve) => {
        source
          .pipe(
            throttle(
              (n: number) => {
                if (here() !== n) wrong.push(['project', n, here()]);
                return defer(() => {
                  if (here() !== n) wrong.push(['subscribed', n, here()]);
                  if (!tried.has(n) && n % 5 === 0) {
                    tried.add(n);
                    throw Object.assign(new Error('busy'), { status: 503 });
                  }
                  return of(n).pipe(delay(50 - n));
                });
              },
              { concurrency: 7, ordered, random: () => 0 },
            ),
          )
          .subscribe({
            next: (n) => {
              seen.push(n);
              if (here() !== n) wrong.push(['result', n, here()]);
            },
            complete: resolve,
          });
      });
      for (let n = 0; n < 50; n += 1) within(n, () => source.next(n));
      source.complete();
      await done;
      expect(wrong).toEqual([]);
      expect(seen).toHaveLength(50);
    }
  });

  it('is empty if it arrived without one, whatever admits it', async () => {
    const limiter = createLimiter({ concurrency: 1 });
    const first = within(1, () => limiter.run(async () => here()));
    const second = limiter.run(async () => here());
    const third = within(3, () => limiter.run(async () => here()));
    expect(await Promise.all([first, second, third])).toEqual([1, undefined, 3]);
  });

  it('is kept through groups, chunks and errors', async () => {
    const group = createLimiterGroup((n: number) => `${n % 3}`, { each: { concurrency: 1 } });
    const source = new Subject<number>();
    const seen: unknown[] = [];
    const grouped = new Promise<void>((resolve) => {
      source.pipe(group.throttle(async () => here(), { ordered: true })).subscribe({
        next: (value) => seen.push([value, here()]),
        complete: resolve,
      });
    });
    for (let n = 0; n < 9; n += 1) within(n, () => source.next(n));
    source.complete();
    await grouped;
    const items = new Subject<Sized<number>>();
    const chunks = new Promise((resolve) => {
      const send = async () => here();
      items.pipe(chunkBy({ maxItems: 2 }), throttle(send), toArray()).subscribe(resolve);
    });
    for (let n = 0; n < 5; n += 1) within(n, () => items.next(new Sized(n, 1)));
    items.complete();
    expect(await chunks).toEqual([0, 2, 4]);
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => [n, n]));
    const failing = new Subject<number>();
    const failedIn = new Promise((resolve) => {
      failing
        .pipe(throttle(() => Promise.reject(new Error('mine'))))
        .subscribe({ error: () => resolve(here()) });
    });
    within(7, () => failing.next(1));
    expect(await failedIn).toBe(7);
  });
});

describe('the spans of an HTTP client', () => {
  it('are below the right attempt, that below its request, that below its caller', async () => {
    const tries = new Map<string, number>();
    const server = createServer((request, response) => {
      const { url = '' } = request;
      const count = (tries.get(url) ?? 0) + 1;
      tries.set(url, count);
      const isBusy = count === 1 && Number(url.slice(1)) % 10 === 0;
      setTimeout(() => response.writeHead(isBusy ? 503 : 200).end(), Math.random() * 5);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const instrumentation = new UndiciInstrumentation();
    instrumentation.setTracerProvider(sdk.tracerProvider);
    instrumentation.enable();
    const callers = new Map<string, string>();
    const source = new Subject<number>();
    const results: unknown[] = [];
    const done = new Promise<void>((resolve) => {
      source
        .pipe(
          throttle(async (n: number) => fetch(`http://127.0.0.1:${port}/${n}`), {
            concurrency: 20,
            random: () => 0,
          }),
          mergeMap(async (response) => response.text()),
        )
        .subscribe({ next: (text) => results.push(text), complete: resolve });
    });
    for (let n = 0; n < 200; n += 1) {
      sdk.tracer.startActiveSpan(`caller ${n}`, (span) => {
        callers.set(span.spanContext().spanId, `/${n}`);
        source.next(n);
        span.end();
      });
    }
    source.complete();
    await done;
    instrumentation.disable();
    server.close();
    server.closeAllConnections();
    expect(results).toHaveLength(200);

    const byId = new Map(sdk.finished().map((span) => [span.spanContext().spanId, span]));
    const clients = sdk.finished().filter(({ attributes }) => attributes['url.path'] !== undefined);
    expect(clients).toHaveLength(220);
    for (const client of clients) {
      const attempt = byId.get(parentOf(client) ?? '');
      expect(attempt?.name).toBe('headgate.attempt');
      const request = attempt && byId.get(parentOf(attempt) ?? '');
      expect(request?.name).toBe('headgate.request');
      expect(callers.get((request && parentOf(request)) ?? '')).toBe(client.attributes['url.path']);
    }
    expect(sdk.finished('headgate.request')).toHaveLength(200);
    expect(trace.getActiveSpan()).toBeUndefined();
  });
});
