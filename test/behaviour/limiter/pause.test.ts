import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Outcome, WaitTimeoutError } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { listen, rig, script } from '../../limiter/rig.ts';
import { tooMany } from '../../request/harness.ts';

const settled = async (clock: ReturnType<typeof rig>['clock']) => clock.advanceAsync(0);

describe('a paused limiter', () => {
  it('sends nothing new, and requests in flight go on', async () => {
    const { clock, limiter } = rig({ concurrency: 2 });
    const { started, run, end } = script(limiter);
    const first = run('a');
    limiter.pause();
    const [second, urgent] = [run('b'), run('c', { priority: 5 })];
    expect(limiter.tryAcquire()).toBeUndefined();
    end('a');
    await clock.advanceAsync(60_000);
    expect(first.value).toBe('a');
    expect(started).toEqual(['a']);
    expect([second.state, urgent.state]).toEqual(['open', 'open']);
    limiter.resume();
    await settled(clock);
    expect(started).toEqual(['a', 'c', 'b']);
  });

  it('sets no timer, even if requests wait for a rate', async () => {
    const limits = { requests: { limit: 1, windowMs: 1_000 } };
    const { clock, limiter } = rig({ limits, attemptTimeoutMs: Number.POSITIVE_INFINITY });
    const { started, run } = script(limiter);
    run('a');
    run('b');
    expect(clock.pendingTimers).toBe(1);
    limiter.pause();
    expect(clock.pendingTimers).toBe(0);
    await clock.advanceAsync(5_000);
    expect(started).toEqual(['a']);
    limiter.resume();
    expect(started).toEqual(['a', 'b']);
  });

  it('shows its reason in the state, the snapshot, the events and the waits', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const events = listen(limiter);
    const states: string[] = [];
    limiter.state$.subscribe((state) => states.push(`${clock.now()} ${state}`));
    const outcomes: Outcome<string, string>[] = [];
    const source = new Subject<string>();
    const answers = new Map<string, () => void>();
    source
      .pipe(
        limiter.throttle(
          (name) => new Promise<string>((done) => answers.set(name, () => done(name))),
          {
            outcomes: true,
          },
        ),
      )
      .subscribe((outcome) => outcomes.push(outcome));
    source.next('a');
    source.next('b');
    await clock.advanceAsync(100);
    limiter.pause('deploying');
    await clock.advanceAsync(50);
    expect(limiter.snapshot()).toMatchObject({
      state: 'paused',
      paused: { reason: 'deploying', pausedMs: 50 },
      binding: 'paused',
      waiting: 1,
      concurrency: { waiting: 0, inFlight: 1 },
      backoff: { waiting: 1, waitsFor: 'paused', longestWaitMs: 150 },
    });
    answers.get('a')?.();
    await clock.advanceAsync(250);
    limiter.resume();
    answers.get('b')?.();
    await settled(clock);
    expect(limiter.snapshot().paused).toBeUndefined();
    expect(outcomes[1]?.stats.waits).toEqual({
      concurrency: { waitMs: 100, rounds: 1 },
      paused: { waitMs: 300, rounds: 1 },
    });
    expect(states).toEqual(['0 running', '100 paused', '400 running']);
    expect(events.map(({ kind, at, ...more }) => ({ kind, at, ...more }))).toMatchObject([
      { kind: 'waiting', at: 0, gate: 'concurrency' },
      { kind: 'paused', at: 100, reason: 'deploying', level: 'info' },
      { kind: 'resumed', at: 400, pausedMs: 300 },
      { kind: 'waited', gate: 'concurrency', waitMs: 100 },
      { kind: 'waited', gate: 'paused', waitMs: 300 },
    ]);
  });

  it('holds retries back too, which keep their slots', async () => {
    const { clock, limiter } = rig({ concurrency: 1 });
    const answers = [tooMany(100), undefined];
    const sentAt: number[] = [];
    const ran = fate(
      limiter.run(() => {
        sentAt.push(clock.now());
        const error = answers.shift();
        if (error !== undefined) throw error;
      }),
    );
    await clock.advanceAsync(10);
    limiter.pause();
    await clock.advanceAsync(1_000);
    expect(limiter.snapshot()).toMatchObject({ waiting: 1, concurrency: { inFlight: 1 } });
    limiter.resume();
    await settled(clock);
    expect(sentAt).toEqual([0, 1_010]);
    expect(ran.state).toBe('ok');
  });

  it('keeps bounds of waits, and lets requests leave', async () => {
    const { clock, limiter } = rig({ waitTimeoutMs: 500 });
    limiter.pause();
    const controller = new AbortController();
    const late = fate(limiter.run(() => 'late'));
    const aborted = fate(limiter.run(() => 'gone', { signal: controller.signal }));
    controller.abort(new Error('enough'));
    await clock.advanceAsync(500);
    expect(late.error).toBeInstanceOf(WaitTimeoutError);
    expect(late.error).toMatchObject({ gate: 'paused' });
    expect(aborted.error).toMatchObject({ message: 'enough' });
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('may be paused again with another reason, and resumed twice with one event', async () => {
    const { clock, limiter } = rig();
    const events = listen(limiter);
    limiter.resume();
    limiter.pause();
    await clock.advanceAsync(5);
    limiter.pause('because');
    expect(limiter.snapshot().paused).toEqual({ reason: 'because', pausedMs: 5 });
    limiter.resume();
    limiter.resume();
    expect(events.map(({ kind }) => kind)).toEqual(['paused', 'resumed']);
    expect(limiter.snapshot().state).toBe('running');
    expect(() => limiter.pause(5 as never)).toThrow('`reason` must be a string, got 5');
  });

  it('can be paused and resumed in listeners of its decisions', async () => {
    const { clock, limiter } = rig({ limits: { requests: { limit: 1, windowMs: 100 } } });
    const { started, run } = script(limiter);
    limiter.events$.subscribe(({ kind }) => {
      if (kind === 'limitDenied') limiter.pause();
    });
    run('a');
    run('b');
    await clock.advanceAsync(300);
    expect(started).toEqual(['a']);
    expect(limiter.snapshot()).toMatchObject({ waiting: 1, binding: 'paused' });
    limiter.resume();
    await clock.advanceAsync(0);
    expect(started).toEqual(['a', 'b']);
  });

  it('stays paused when it is closed, and drains when it is resumed', async () => {
    const { clock, limiter } = rig();
    limiter.pause();
    const waiting = fate(limiter.run(() => 'sent'));
    limiter.close();
    const drained = fate(limiter.drain());
    await clock.advanceAsync(1_000);
    expect(limiter.snapshot()).toMatchObject({ state: 'draining', paused: { pausedMs: 1_000 } });
    expect([waiting.state, drained.state]).toEqual(['open', 'open']);
    limiter.resume();
    await settled(clock);
    expect([waiting.value, drained.state]).toEqual(['sent', 'ok']);
    expect(limiter.snapshot().state).toBe('closed');
  });
});
