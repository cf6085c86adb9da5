import type { Feedback } from '../../src/model/feedback.ts';
import { arrivalsOf } from './arrivals.ts';
import { configure } from './changes.ts';
import { ANSWERS, type Answer, errorOf, MEANINGS } from './requests.ts';
import { type Action, pick } from './setup.ts';
import type { World } from './world.ts';

/** Performs the actions of users. */
export function performer(world: World): (action: Action) => void {
  const { clock, limiter, streams, warden } = world;
  const { next, run, acquire, tryAcquire } = arrivalsOf(world);
  const answerAt = (index: number): Answer => pick(ANSWERS, index) ?? 'ok';

  const release = ({ a, b }: Action) => {
    const held = world.held.splice(a % (world.held.length || 1), 1)[0];
    if (held === undefined) return;
    const answer = answerAt(b);
    held.req.lastAnswer = answer;
    held.req.end(answer === 'ok' ? 'ok' : 'failed');
    held.req.isUnused = b % 7 === 0;
    if (b % 7 === 0) held.lease.release('cancelled');
    else if (answer === 'ok') held.lease.release();
    else held.lease.release('failed', errorOf(answer));
    held.lease.release();
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
    warden.passedBy('failed');
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
    configure: (action) => configure(world, action),
    close: ({ a, b }) => a % 4 === 0 && world.close(b % 3 === 0),
    pause: ({ a }) => a % 2 === 0 && world.pause(),
    resume: () => world.resume(),
    clear: ({ a }) => a % 3 === 0 && limiter?.clear(`${a}`),
    drain: () => world.drain(),
    push: (action) => action.c % 2 === 0 && push(action),
    recordSuccess: () => {
      if (limiter === undefined) return;
      warden.attempts.circuit?.ended(undefined, 'ok', clock.now());
      warden.passedBy('ok');
      limiter.recordSuccess();
    },
    recordFailure,
    recordTokens,
    look: () => limiter?.snapshot(),
    subscribe: () => streams.length < 3 && limiter !== undefined && world.subscribe(),
  };
  return (action) => doings[action.do](action);
}
