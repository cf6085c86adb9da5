import type { AttemptContext } from '../../src/request/attempt-context.ts';
import { OWNER, Req, type Said } from './requests.ts';
import { type Action, pick } from './setup.ts';
import type { World } from './world.ts';

/** Submits requests in every possible way. Without a limiter all come in streams. */
export function arrivalsOf(world: World) {
  const { clock, limiter, setup, streams, warden } = world;

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
    // Costs are copied, and their symbols with them.
    const costs = { ...(credits && { credits: c % 4 }), [OWNER]: req };
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

  return { next, run, acquire, tryAcquire };
}
