import { SpanStatusCode } from '@opentelemetry/api';
import { lastValueFrom, of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createLimiter,
  createLimiterGroup,
  type LimiterOptions,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.stop());

const ONCE = { maxAttempts: 1 } as const;

/** What `fetch` answers. */
const answering = (status: number) => async () =>
  new Response(status === 204 ? null : '{}', { status });

/** Runs a call in virtual time. */
async function ended<R>(clock: ManualClock, result: Promise<R>): Promise<R> {
  await clock.runAllAsync();
  return result;
}

/** Each way in which a Response comes to its caller. */
const WAYS: readonly [
  name: string,
  send: (status: number, options: LimiterOptions) => Promise<Response>,
][] = [
  ['run', (status, options) => createLimiter(options).run(answering(status))],
  ['wrap', (status, options) => createLimiter(options).wrap(answering(status))()],
  [
    'throttle',
    (status, options) => lastValueFrom(of(1).pipe(throttle(answering(status), options))),
  ],
  [
    'limiter.throttle',
    (status, options) =>
      lastValueFrom(of(1).pipe(createLimiter(options).throttle(answering(status)))),
  ],
  [
    'the throttle of a group',
    (status, { clock, ...each }) => {
      const group = createLimiterGroup(() => 'a', { ...(clock && { clock }), each });
      return lastValueFrom(of(1).pipe(group.throttle(answering(status))));
    },
  ],
];

describe.each(WAYS)('a Response that is not ok, through %s', (_name, send) => {
  it.each([400, 401, 404, 500, 429])('is reported with its status: %i', async (status) => {
    const clock = new ManualClock();
    const answer = await ended(clock, send(status, { clock, ...ONCE }));
    expect(answer.status).toBe(status);
    const told = await sdk.collect();
    const type = { 'error.type': `${status}` };
    expect(told.value('headgate.requests', { 'headgate.outcome': 'failed' })).toBe(1);
    expect(told.value('headgate.requests', { 'headgate.outcome': 'ok' })).toBe(0);
    expect(told.value('headgate.attempts', type)).toBe(1);
    expect(told.histogram('headgate.request.duration', type).count).toBe(1);
    for (const name of ['headgate.attempt', 'headgate.request']) {
      const [span] = sdk.finished(name);
      expect(span?.status.code).toBe(SpanStatusCode.ERROR);
      expect(span?.attributes['error.type']).toBe(`${status}`);
    }
    expect(sdk.finished('headgate.attempt')[0]?.attributes['http.response.status_code']).toBe(
      status,
    );
  });

  it('has its status if it is ok, too', async () => {
    const clock = new ManualClock();
    await ended(clock, send(201, { clock }));
    const [attempt] = sdk.finished('headgate.attempt');
    expect(attempt?.attributes).toMatchObject({ 'http.response.status_code': 201 });
    expect(attempt?.attributes).not.toHaveProperty('error.type');
  });

  it('is a success if `classify` returns ok', async () => {
    const clock = new ManualClock();
    const classify = (answer: unknown) =>
      answer instanceof Response && answer.status === 404 ? ({ kind: 'ok' } as const) : undefined;
    const answer = await ended(clock, send(404, { clock, classify }));
    expect(answer.status).toBe(404);
    const told = await sdk.collect();
    expect(told.value('headgate.requests', { 'headgate.outcome': 'ok' })).toBe(1);
    expect(told.value('headgate.attempts')).toBe(1);
    for (const name of ['headgate.attempt', 'headgate.request']) {
      expect(sdk.finished(name)[0]?.status.code).toBe(SpanStatusCode.UNSET);
    }
  });
});

it('a successful Response after a retry counts as ok', async () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, random: () => 0 });
  const answer = limiter.run(({ attempt }) => answering(attempt === 1 ? 500 : 204)());
  expect((await ended(clock, answer)).status).toBe(204);
  const told = await sdk.collect();
  expect(told.value('headgate.requests', { 'headgate.outcome': 'ok' })).toBe(1);
  expect(sdk.finished('headgate.request')[0]?.status.code).toBe(SpanStatusCode.UNSET);
});
