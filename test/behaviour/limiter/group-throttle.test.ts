import { finalize, of, range, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiterGroup, type Outcome, Sized } from '../../../src/index.ts';
import { expectAllIdle, groupRig } from '../../limiter/group-rig.ts';
import { ApiError, watch } from '../../request/harness.ts';

describe('group.throttle', () => {
  it('sends each request through the limits of its key', async () => {
    const { clock, group, started, task, end } = groupRig({ each: { concurrency: 1 } });
    const seen = watch(of('a1', 'a2', 'b1', 'b2', new Sized('c1', 5)).pipe(group.throttle(task)));
    expect(started).toEqual(['a1', 'b1', 'c1']);
    for (const name of ['b1', 'a1', 'c1', 'a2', 'b2']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['a1', 'b1', 'c1', 'b2', 'a2']);
    expect(seen).toMatchObject({ values: ['b1', 'a1', 'c1', 'a2', 'b2'], state: 'complete' });
    expectAllIdle(group);
  });

  it('counts the index over the whole stream, in the order of arrival', async () => {
    const { clock, group } = groupRig({ each: { concurrency: 1 } });
    const names = ['a', 'a', 'b', 'a', 'c', 'b', 'b'];
    const project = async (name: string, { index }: { index: number }) => `${name}${index}`;
    const seen = watch(of(...names).pipe(group.throttle(project)));
    await clock.advanceAsync(0);
    expect(seen.values.toSorted()).toEqual(names.map((name, at) => `${name}${at}`).toSorted());
  });

  it('emits in the order of the stream with `ordered`', async () => {
    const { clock, group, started, task, end, fail } = groupRig({ each: { concurrency: 1 } });
    const options = { ordered: true, outcomes: true } as const;
    const seen = watch(of('a1', 'a2', 'b1', 'b2').pipe(group.throttle(task, options)));
    for (const name of ['b1', 'b2', 'a1']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(started).toEqual(['a1', 'b1', 'b2', 'a2']);
    expect(seen.values.map(({ request }) => request)).toEqual(['a1']);
    fail('a2', new ApiError(400));
    await clock.advanceAsync(0);
    const fates = seen.values.map(({ request, status }) => `${request} ${status}`);
    expect(fates).toEqual(['a1 ok', 'a2 failed', 'b1 ok', 'b2 ok']);
    expect(seen.state).toBe('complete');
  });

  it('emits outcomes, including requests that a limit refuses', async () => {
    const { clock, group, task, end } = groupRig({
      each: { concurrency: 1, maxQueue: 1 },
    });
    const source = of('a1', 'a2', 'a3', 'b1');
    const seen = watch(source.pipe(group.throttle(task, { outcomes: true })));
    for (const name of ['a1', 'b1', 'a2']) {
      end(name);
      await clock.advanceAsync(0);
    }
    const fates = seen.values.map(({ request, status }: Outcome<string, string>) => [
      request,
      status,
    ]);
    expect(fates).toEqual([
      ['a3', 'failed'],
      ['a1', 'ok'],
      ['b1', 'ok'],
      ['a2', 'ok'],
    ]);
    expect(seen.state).toBe('complete');
    expectAllIdle(group);
  });

  it.each([
    [
      'a request',
      (group: ReturnType<typeof groupRig>['group']) =>
        of('a1', 'a2', 'b1').pipe(
          group.throttle((name) =>
            name === 'b1' ? throwError(() => new Error('no')) : new Promise(() => {}),
          ),
        ),
    ],
    [
      'an estimator',
      (group: ReturnType<typeof groupRig>['group']) =>
        of('a1', 'a2', 'b1').pipe(
          group.throttle(() => new Promise(() => {}), {
            estimate: (name) => {
              if (name === 'b1') throw new Error('no');
              return 1;
            },
          }),
        ),
    ],
    [
      'the source',
      (group: ReturnType<typeof groupRig>['group']) => {
        const source = new Subject<string>();
        queueMicrotask(() => source.error(new Error('no')));
        queueMicrotask(() => source.next('a1'));
        return source.pipe(group.throttle(() => new Promise(() => {})));
      },
    ],
  ])('fails with %s, and holds nothing', async (_what, stream) => {
    const { clock, group } = groupRig({ each: { concurrency: 1 }, shared: { concurrency: 2 } });
    const seen = watch(stream(group));
    await clock.advanceAsync(0);
    expect(seen.state).toBe('error');
    expectAllIdle(group);
    expect(clock.pendingTimers).toBeLessThanOrEqual(1);
  });

  it('counts no waiting request when an estimator fails as its turn comes', async () => {
    const { clock, group, task, end } = groupRig({ each: { concurrency: 1 } });
    const estimate = (name: string) => {
      if (name === 'a3') throw new Error('no');
      return 1;
    };
    const seen = watch(of('a1', 'a2', 'a3', 'b1').pipe(group.throttle(task, { estimate })));
    expect(seen.state).toBe('open');
    end('a1');
    await clock.advanceAsync(0);
    expect(seen.state).toBe('error');
    expectAllIdle(group);
    await group.drain();
  });

  it('holds nothing when an estimator unsubscribes, at once or when a turn comes', async () => {
    for (const which of ['a1', 'a2', 'a3']) {
      const { clock, group, task, end } = groupRig({ each: { concurrency: 1 } });
      const source = new Subject<string>();
      const estimate = (name: string) => {
        if (name === which) seen.subscription.unsubscribe();
        return 1;
      };
      const seen = watch(source.pipe(group.throttle(task, { estimate })));
      for (const name of ['a1', 'a2', 'a3']) source.next(name);
      for (const name of ['a1', 'a2', 'a3']) {
        end(name);
        await clock.advanceAsync(0);
      }
      expect(seen.values).toHaveLength(['a1', 'a2', 'a3'].indexOf(which) === 2 ? 1 : 0);
      expectAllIdle(group);
      await group.drain();
    }
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no key');
      },
      /no key/,
    ],
    ['returns no string', () => 5 as unknown as string, /key of a request must be a string, got 5/],
  ])('errors the stream when `keyOf` %s', async (_what, keyOf, message) => {
    const { clock } = groupRig();
    const group = createLimiterGroup<number>((value) => (value < 2 ? 'a' : keyOf()), { clock });
    let torn = 0;
    const forever = () => new Promise<never>(() => {});
    const source = range(0, 5).pipe(
      finalize(() => {
        torn += 1;
      }),
    );
    const seen = watch(source.pipe(group.throttle(forever)));
    expect(seen.state).toBe('error');
    expect(String(seen.error)).toMatch(message);
    expect(torn).toBe(1);
    expectAllIdle(group);
  });

  it.each([false, true])(
    'completes in the outcome of a keyless request, ordered: %s',
    (ordered) => {
      const group = createLimiterGroup((): string => {
        throw new Error('no key');
      });
      const source = new Subject<number>();
      const ends: string[] = [];
      const send = group.throttle(async (n) => n, { outcomes: true, ordered });
      source.pipe(send).subscribe({
        next: ({ status }) => {
          ends.push(status);
          source.complete();
        },
        complete: () => ends.push('complete'),
      });
      source.next(1);
      expect(ends).toEqual(['failed', 'complete']);
    },
  );

  it.each(['keyOf', 'each'])('sends nothing of a stream that %s unsubscribes', (where) => {
    let unsubscribe = () => {};
    const called = (name: string) => {
      if (name === where) unsubscribe();
    };
    const keyOf = (key: string) => {
      called('keyOf');
      return key;
    };
    const each = () => {
      called('each');
      return {};
    };
    const group = createLimiterGroup(keyOf, { each, shared: { concurrency: 1 } });
    const lease = group.tryAcquire('b');
    const source = new Subject<string>();
    const subscription = source.pipe(group.throttle(async (key) => key)).subscribe();
    unsubscribe = () => subscription.unsubscribe();
    source.next('a');
    expect(subscription.closed).toBe(true);
    expect(group.snapshot().keys.a?.waiting ?? 0).toBe(0);
    lease?.release();
    expectAllIdle(group);
  });

  it.each([true, false])(
    'sends the request in whose `keyOf` the source completes, ordered: %s',
    (ordered) => {
      for (const [key, status] of [
        ['a', 'ok'],
        ['none', 'failed'],
      ] as const) {
        const source = new Subject<string>();
        const group = createLimiterGroup((name: string) => {
          source.complete();
          if (name === 'none') throw new Error('no key');
          return name;
        });
        const send = group.throttle((name) => of(name), { outcomes: true, ordered });
        const seen = watch(source.pipe(send));
        source.next(key);
        expect(seen.values).toMatchObject([{ request: key, status }]);
        expect(seen.state).toBe('complete');
      }
    },
  );

  it('releases its source when that is complete', () => {
    const { group, task } = groupRig({ each: { concurrency: 1 } });
    let torn = 0;
    const source = of('a1', 'a2').pipe(
      finalize(() => {
        torn += 1;
      }),
    );
    watch(source.pipe(group.throttle(task)));
    expect(torn).toBe(1);
  });

  it('keeps no state of one stream in another', async () => {
    const { clock, group, task } = groupRig({
      each: { concurrency: 1 },
      shared: { concurrency: 1 },
    });
    const one = watch(of('a1', 'a2', 'b1').pipe(group.throttle(task)));
    const two = watch(of('a3', 'b2').pipe(group.throttle(async (name) => name)));
    one.subscription.unsubscribe();
    await clock.advanceAsync(0);
    expect(two.values.toSorted()).toEqual(['a3', 'b2']);
    expect(two.state).toBe('complete');
    expectAllIdle(group);
  });

  it('sends a hundred thousand of many keys that end at once, without a growing stack', () => {
    const limits = { each: { concurrency: 1 }, shared: { concurrency: 1 } };
    const group = createLimiterGroup((n: number) => `${n % 100}`, limits);
    let count = 0;
    range(0, 100_000)
      .pipe(group.throttle((n) => of(n)))
      .subscribe(() => {
        count += 1;
      });
    expect(count).toBe(100_000);
    expectAllIdle(group);
    group.close();
  });
});
