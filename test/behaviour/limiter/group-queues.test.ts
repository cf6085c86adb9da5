import { of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { expectAllIdle, groupRig } from '../../limiter/group-rig.ts';
import { fate } from '../../limiter/harness.ts';
import { watch } from '../../request/harness.ts';

describe('the queues of a group', () => {
  it('are bounded for streams as for promises', async () => {
    const { clock, group, run, task, end } = groupRig({ each: { concurrency: 1, maxQueue: 1 } });
    const stream = of('a1', 'a2', 'a3', 'b1').pipe(group.throttle(task, { outcomes: true }));
    const seen = watch(stream);
    const late = run('a4');
    await clock.advanceAsync(0);
    expect(seen.values).toMatchObject([{ request: 'a3', error: { name: 'QueueFullError' } }]);
    expect(late.error).toMatchObject({ name: 'QueueFullError' });
    for (const name of ['a1', 'a2', 'b1']) {
      end(name);
      await clock.advanceAsync(0);
    }
    expect(seen.state).toBe('complete');
    expectAllIdle(group);
  });

  it('end the wait of streams and promises, for own and for shared limits', async () => {
    for (const options of [{ each: { concurrency: 1 } }, { shared: { concurrency: 1 } }]) {
      const each = { waitTimeoutMs: 100, ...options.each };
      const { clock, group, run, task } = groupRig({ ...options, each });
      run('a0');
      const seen = watch(of('a1', 'a2').pipe(group.throttle(task, { outcomes: true })));
      const late = run('a3');
      await clock.advanceAsync(100);
      expect(seen.values.map(({ status }) => status)).toEqual(['failed', 'failed']);
      expect(late.error).toMatchObject({ name: 'WaitTimeoutError' });
      expect(group.snapshot().keys.a?.waiting).toBe(0);
    }
  });

  it('count a request once that times out and is aborted in the same turn', async () => {
    const limits = { tokens: { limit: 10, windowMs: 1_000 } };
    const { clock, group } = groupRig({ each: { waitTimeoutMs: 100, limits } });
    await group.run('a', () => 0, { tokens: 5 });
    const controller = new AbortController();
    const late = fate(group.run('a', () => 1, { tokens: 9, signal: controller.signal }));
    await clock.advanceAsync(50);
    const next = fate(group.run('a', () => controller.abort(), { tokens: 2 }));
    await clock.advanceAsync(50);
    expect([late.state, next.state]).toEqual(['failed', 'ok']);
    expect(group.snapshot().keys.a?.waiting).toBe(0);
    expectAllIdle(group);
  });

  it('follow the priorities of streams and promises, within a key', async () => {
    for (const options of [{ each: { concurrency: 1 } }, { shared: { concurrency: 1 } }]) {
      const { clock, group, run, started, task, end } = groupRig(options);
      const source = new Subject<string>();
      const priority = (name: string) => Number(name.slice(1));
      watch(source.pipe(group.throttle(task, { priority })));
      run('a9');
      source.next('a0');
      source.next('a2');
      run('a1', { priority: 1 });
      for (const name of ['a9', 'a2', 'a1', 'a0']) {
        end(name);
        await clock.advanceAsync(0);
      }
      expect(started).toEqual(['a9', 'a2', 'a1', 'a0']);
      expectAllIdle(group);
    }
  });

  it('report waiting requests to an instrumentation', async () => {
    const queued: unknown[] = [];
    const instrumentation = { queued: ({ value }: { value: unknown }) => queued.push(value) };
    const { group, task } = groupRig({ each: { concurrency: 1 }, instrumentation });
    watch(of('a1', 'a2', 'b1').pipe(group.throttle(task)));
    expect(queued).toEqual(['a2']);
  });
});
