import fc from 'fast-check';
import { from, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  byteBudget,
  CostAboveLimitError,
  concurrencyLimit,
  dispatch,
  EstimatorError,
  type Outcome,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { type Pending, pending, watch } from '../../request/harness.ts';

interface Job {
  readonly name: string;
  readonly weight: number;
}

function rig(concurrency = 4, before = false) {
  const clock = new ManualClock();
  const source = new Subject<Job>();
  const started: string[] = [];
  const calls = new Map<string, Pending<string>>();
  const send = ({ name }: Job) => {
    started.push(name);
    const call = pending<string>();
    calls.set(name, call);
    return call.promise;
  };
  const limit = concurrencyLimit<Job>({ clock, concurrency, weight: (job) => job.weight });
  const tickets = before ? source.pipe(byteBudget({ clock }), limit) : source.pipe(limit);
  const seen = watch(tickets.pipe(dispatch(send, { clock, outcomes: true })));
  const end = async (name: string) => {
    calls.get(name)?.resolve(name);
    await clock.advanceAsync(0);
  };
  return { clock, source, started, seen, end };
}

describe('the weight of a request at concurrencyLimit', () => {
  it.each([false, true])(
    'takes so many slots, all or none, in order (behind a gate: %s)',
    async (before) => {
      const { source, started, end } = rig(4, before);
      for (const [name, weight] of [
        ['a', 1],
        ['b', 2],
        ['heavy', 3],
        ['light', 1],
      ] as const) {
        source.next({ name, weight });
      }
      expect(started).toEqual(['a', 'b']);
      await end('a');
      expect(started).toEqual(['a', 'b']);
      await end('b');
      expect(started).toEqual(['a', 'b', 'heavy', 'light']);
    },
  );

  it('above the limit is the error of its request', async () => {
    const { clock, source, seen } = rig(2);
    source.next({ name: 'heavy', weight: 3 });
    await clock.advanceAsync(0);
    const [outcome] = seen.values as Outcome<Job, string>[];
    expect(outcome).toMatchObject({ status: 'failed', request: { name: 'heavy' } });
    if (outcome?.status === 'failed') expect(outcome.error).toBeInstanceOf(CostAboveLimitError);
  });

  it('that throws or is no integer errors the stream, and leaves nothing held', async () => {
    for (const weight of [
      () => 0.5,
      () => Number.NaN,
      () => {
        throw new Error('no');
      },
    ]) {
      const errors: unknown[] = [];
      from([1])
        .pipe(
          concurrencyLimit<number>({ weight }),
          dispatch(async (n) => n),
        )
        .subscribe({ error: (error) => errors.push(error) });
      from([1])
        .pipe(
          byteBudget<number>(),
          concurrencyLimit<number>({ weight }),
          dispatch(async (n) => n),
        )
        .subscribe({ error: (error) => errors.push(error) });
      expect(errors).toHaveLength(2);
      for (const error of errors) expect(error).toBeInstanceOf(EstimatorError);
    }
    expect(() => concurrencyLimit({ weight: 2 } as never)).toThrow('`weight` must be a function');
  });

  it('gives back at each of two limits what that one has charged', async () => {
    const clock = new ManualClock();
    const done: number[] = [];
    from([1, 2, 3, 1, 2])
      .pipe(
        concurrencyLimit<number>({ clock, concurrency: 2 }),
        concurrencyLimit<number>({ clock, concurrency: 3, weight: (n) => n }),
        dispatch(async (n) => n, { clock }),
      )
      .subscribe((n) => done.push(n));
    await clock.advanceAsync(0);
    expect(done.toSorted()).toEqual([1, 1, 2, 2, 3]);
  });

  it('sends the same requests at the same times as throttle', async () => {
    const job = fc.record({
      weight: fc.integer({ min: 1, max: 4 }),
      ms: fc.integer({ min: 1, max: 50 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(job, { maxLength: 20 }), async (jobs) => {
        const play = async (form: 'operator' | 'throttle') => {
          const clock = new ManualClock();
          const sent: string[] = [];
          const project = (n: number) => {
            sent.push(`${n} at ${clock.now()}`);
            return new Promise((resolve) => clock.setTimer(() => resolve(n), jobs[n]?.ms ?? 1));
          };
          const weight = (n: number) => jobs[n]?.weight ?? 1;
          const source = from(jobs.keys());
          const options = { clock, concurrency: 4 };
          const results =
            form === 'operator'
              ? source.pipe(
                  concurrencyLimit<number>({ ...options, weight }),
                  dispatch(project, { clock }),
                )
              : source.pipe(throttle(project, { ...options, weight, adaptive: false }));
          let ended = 0;
          results.subscribe(() => {
            ended += 1;
          });
          await clock.runAllAsync();
          expect(ended).toBe(jobs.length);
          return sent;
        };
        expect(await play('operator')).toEqual(await play('throttle'));
      }),
    );
  });
});
