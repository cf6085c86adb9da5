import type { Feedback } from '../../src/model/feedback.ts';
import type { AttemptContext } from '../../src/operators/attempt-context.ts';
import { ANSWERS, type Answer, errorOf, MEANINGS, Req, type Said } from './requests.ts';
import type { Action } from './setup.ts';
import type { World } from './world.ts';

const pick = <T>(list: readonly T[], index: number): T | undefined =>
  list[index % (list.length || 1)];

/** Does what users do. */
export function performer(world: World): (action: Action) => void {
  const { clock, limiter, setup, streams, warden } = world;
  const answerAt = (index: number): Answer => pick(ANSWERS, index) ?? 'ok';

  const newRequest = (via: Req['via'], { a, b, c }: Action, isPlain = false): Req => {
    const priority = isPlain || (via === 'stream' && !setup.hasPriority) ? 0 : c % 3;
    const said: Said = { bytes: isPlain ? 0 : b % 60, tokens: isPlain ? 0 : a % 5, priority };
    const req = new Req(warden.requests.length, via, said, clock.now(), [a >> 3, b >> 2]);
    req.isPlain = isPlain;
    return req;
  };

  const watch = (req: Req, promise: Promise<unknown>) =>
    promise.then(
      () => req.end('ok'),
      () => req.end('failed'),
    );

  const saidOf = (req: Req, c: number) => {
    const { bytes, tokens, priority } = req;
    const credits = setup.limits.some(([name]) => name === 'credits');
    const costs: Record<string, number> = credits ? { credits: c % 4 } : {};
    world.belongs(costs, req);
    const controller = new AbortController();
    world.aborts.push({ req, controller });
    return { bytes, tokens, priority, costs, signal: controller.signal };
  };

  const next = (action: Action) => {
    const stream = pick(
      streams.filter(({ isSourceOver }) => !isSourceOver),
      action.c,
    );
    if (stream === undefined) return;
    const req = newRequest('stream', action);
    stream.arrived.push(req);
    if (stream.state !== 'open') {
      req.isGone = true;
      req.isBornLate = true;
    }
    world.enter(req, () => stream.source.next(req));
  };

  const run = (action: Action, how: 'said' | 'plain' | 'wrap') => {
    if (limiter === undefined) return next(action);
    const req = newRequest('run', action, how === 'plain');
    const task = (context: AttemptContext) => world.project(req, context) as Promise<Req>;
    world.belongs(task, req);
    world.enter(req, () => {
      if (how === 'plain') void watch(req, limiter.run(task));
      else if (how === 'said') void watch(req, limiter.run(task, saidOf(req, action.c)));
      else {
        const call = (told: Req) => world.project(told) as Promise<Req>;
        void watch(req, limiter.wrap(call, () => saidOf(req, action.c))(req));
      }
    });
  };

  const acquire = (action: Action, isPlain: boolean) => {
    if (limiter === undefined) return next(action);
    const req = newRequest('acquire', action, isPlain);
    world.enter(req, () => {
      const lease = isPlain ? limiter.acquire() : limiter.acquire(saidOf(req, action.c));
      lease.then(
        (got) => world.hold(req, got),
        () => req.end('failed'),
      );
    });
  };

  const tryAcquire = (action: Action) => {
    if (limiter === undefined) return;
    const req = newRequest('try', action);
    const { signal: _, ...said } = saidOf(req, action.c);
    world.aborts.pop();
    world.enter(req, () => {
      try {
        const lease = limiter.tryAcquire(said);
        if (lease === undefined) req.end('failed');
        else world.hold(req, lease);
      } catch {
        req.end('failed');
      }
    });
  };

  const release = ({ a, b }: Action) => {
    const held = world.held.splice(a % (world.held.length || 1), 1)[0];
    if (held === undefined) return;
    const answer = answerAt(b);
    held.req.lastAnswer = answer;
    held.req.end(answer === 'ok' ? 'ok' : 'failed');
    if (b % 7 === 0) held.lease.release('cancelled');
    else if (answer === 'ok') held.lease.release();
    else held.lease.release('failed', errorOf(answer));
    held.lease.release();
  };

  const configure = ({ a, b, c }: Action) => {
    const limit = (a % 4) + 1;
    if (limiter === undefined) {
      if (!setup.hasListener) return;
      warden.mostSlots = Math.max(warden.mostSlots, limit);
      world.concurrency.next(limit);
      return;
    }
    const change = pick(
      ['concurrency', 'throttled', 'bytes', 'limits', 'pace', 'queue', 'timeout'],
      b,
    );
    if (change === 'concurrency') {
      warden.mostSlots = Math.max(warden.mostSlots, limit);
      limiter.configure({ concurrency: limit });
    }
    if (change === 'throttled') limiter.configure({ throttledConcurrency: limit });
    if (change === 'bytes') {
      warden.mostBytes = Math.max(warden.mostBytes, c % 100);
      limiter.configure({ maxBytes: c % 100 });
    }
    const named = pick([...warden.attempts.rates], c);
    if (change === 'limits' && named !== undefined) {
      const [name, rate] = named;
      rate.resize((a % 20) + 1, clock.now());
      limiter.configure({ limits: { [name]: { ...rate.rule, limit: rate.limit } } });
    }
    if (change === 'pace' && setup.pace !== undefined) {
      warden.attempts.intervalMs = a % 50;
      limiter.configure({ pace: { ...setup.pace, intervalMs: a % 50, maxIntervalMs: 300 } });
    }
    if (change === 'queue') {
      warden.maxQueue = a % 6;
      warden.mostQueue = Math.max(warden.mostQueue, warden.maxQueue);
      limiter.configure({ maxQueue: a % 6 });
    }
    if (change === 'timeout') {
      if (warden.waitTimeoutMs === Number.POSITIVE_INFINITY) warden.timedFrom = world.callsSoFar;
      warden.waitTimeoutMs = (c % 300) + 1;
      limiter.configure({ waitTimeoutMs: (c % 300) + 1 });
    }
  };

  const push = ({ a, b }: Action) => {
    const kinds = ['ok', 'throttled', 'overloaded', 'failed', 'fatal'] as const;
    const feedback: Feedback = {
      kind: pick(kinds, a) ?? 'ok',
      ...(b % 2 === 0 && { retryAfterMs: 1 + (b % 150) }),
      ...(b % 3 === 0 && { epoch: Math.max(0, world.feedback.epoch - (b % 2)) }),
    };
    world.feedback.next(feedback);
  };

  const recordFailure = ({ a }: Action) => {
    const answer = answerAt(a);
    if (limiter === undefined || answer === 'ok') return;
    warden.attempts.circuit?.ended(undefined, MEANINGS[answer][1], clock.now());
    // Its error is read before it counts, which nothing must come between here.
    world.isQuiet = true;
    limiter.recordFailure(errorOf(answer));
    world.isQuiet = false;
  };

  const tokens = ({ a, b, c }: Action) => {
    const call = pick(
      world.calls.filter(({ isOpen }) => isOpen),
      a,
    );
    const lease = pick(world.held, a)?.lease;
    if (c % 2 === 0) call?.context?.recordTokens(b % 9);
    else lease?.recordTokens(b % 9);
  };

  const recordTokens = ({ a }: Action) => {
    if (limiter === undefined) return;
    if (a % 6 > 0) warden.attempts.rates.get('tokens')?.charge(a % 6, clock.now());
    limiter.recordTokens(a % 6);
  };

  const endSource = (action: Action, how: 'complete' | 'fail') => {
    const stream = pick(
      streams.filter(({ isSourceOver }) => !isSourceOver),
      action.a,
    );
    if (stream === undefined) return;
    stream.isSourceOver = true;
    if (how === 'complete') stream.source.complete();
    else stream.source.error(new Error('the source has failed'));
  };

  const abort = ({ a }: Action) => {
    const aborted = world.aborts.splice(a % (world.aborts.length || 1), 1)[0];
    if (aborted === undefined) return;
    const { req, controller } = aborted;
    if (req.waits || req.via === 'run') req.isGone = true;
    controller.abort();
  };

  const doings: Readonly<Record<Action['do'], (action: Action) => void>> = {
    burst: ({ a, b, c }) => {
      for (const at of [0, 1, 2]) {
        const each = { a: a + at, b: b + at * 9, c: c + at };
        if (a % 2 === 0) next({ do: 'next', ...each });
        else run({ do: 'run', ...each }, 'said');
      }
    },
    next,
    run: (action) => run(action, 'said'),
    runPlain: (action) => run(action, 'plain'),
    wrap: (action) => run(action, 'wrap'),
    acquire: (action) => acquire(action, false),
    acquirePlain: (action) => acquire(action, true),
    tryAcquire,
    answer: ({ a, b }) =>
      pick(
        world.calls.filter(({ isOpen }) => isOpen),
        a,
      )?.answer(answerAt(b)),
    value: ({ a }) =>
      pick(
        world.calls.filter(({ isOpen }) => isOpen),
        a,
      )?.value(),
    release,
    tokens,
    abort,
    unsubscribe: ({ a, b }) => {
      const stream = pick(streams, a);
      if (stream !== undefined && b % 3 === 0) stream.leave();
    },
    complete: (action) => action.b % 3 === 0 && endSource(action, 'complete'),
    fail: (action) => action.b % 4 === 0 && endSource(action, 'fail'),
    configure,
    close: ({ a }) => a % 4 === 0 && world.close(),
    drain: () => world.drain(),
    push: (action) => action.c % 2 === 0 && push(action),
    recordSuccess: () => {
      if (limiter === undefined) return;
      warden.attempts.circuit?.ended(undefined, 'ok', clock.now());
      limiter.recordSuccess();
    },
    recordFailure,
    recordTokens,
    look: () => limiter?.snapshot(),
    subscribe: () => streams.length < 3 && limiter !== undefined && world.subscribe(),
  };
  return (action) => doings[action.do](action);
}
