import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLimiterGroup, type LimiterGroup } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectAllIdle } from '../../limiter/group-rig.ts';
import { fate } from '../../limiter/harness.ts';
import { runs } from '../../support/runs.ts';

const WINDOW_MS = 100;
const KEYS = ['a', 'b', 'c'];

const amount = fc.integer({ min: 1, max: 6 });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('run' as const), key: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(60) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('shared' as const), requests: amount }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('slots' as const), slots: amount }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('each' as const), requests: amount }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('both' as const),
      requests: amount,
      slots: amount,
      own: amount,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wrong' as const), requests: amount }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const limits = (limit: number) => ({ requests: { limit, windowMs: WINDOW_MS } });

/** A group, its users, and the limits that are in force. */
class World {
  readonly clock = new ManualClock();
  readonly group: LimiterGroup<string>;
  private requests = 3;
  private slots = 3;
  private own = 2;
  private readonly sent: { readonly key: string; readonly at: number }[] = [];
  private inFlight = 0;
  private readonly fates: ReturnType<typeof fate>[] = [];

  constructor() {
    this.group = createLimiterGroup((key: string) => key, {
      ...{ clock: this.clock, random: () => 0, idleMs: 50 },
      each: { adaptive: false, limits: limits(this.own) },
      shared: { concurrency: this.slots, limits: limits(this.requests) },
    });
  }

  async play(said: Step): Promise<void> {
    const { group } = this;
    if (said.do === 'run') this.run(KEYS[said.key] as string);
    else if (said.do === 'wait') await this.clock.advanceAsync(said.ms);
    else if (said.do === 'close') group.close();
    else if (said.do === 'wrong') {
      const wrong = { shared: { limits: limits(said.requests) }, each: { concurrency: 0 } };
      expect(() => group.configure(wrong)).toThrow('`each.concurrency`');
    } else this.change(said);
  }

  /** Everything is sent in the end, and nothing is held. */
  async finish(): Promise<void> {
    await this.clock.advanceAsync(20_000);
    const open = this.fates.filter(({ state }) => state === 'open');
    expect(open).toEqual([]);
    for (const { state, error } of this.fates) {
      if (state !== 'ok') expect(error).toMatchObject({ code: 'LIMITER_CLOSED' });
    }
    expectAllIdle(this.group);
    this.group.close();
    await this.clock.advanceAsync(1_000);
    expect(this.clock.pendingTimers).toBe(0);
  }

  private change(said: Exclude<Step, { do: 'run' | 'wait' | 'close' | 'wrong' }>): void {
    // Set first: the change itself may send.
    if (said.do === 'each') this.own = said.requests;
    else if ('requests' in said) this.requests = said.requests;
    if ('slots' in said) this.slots = said.slots;
    if ('own' in said) this.own = said.own;
    const shared = { concurrency: this.slots, limits: limits(this.requests) };
    const each = { limits: limits(this.own) };
    if (said.do === 'both') this.group.configure({ shared, each });
    else if (said.do === 'each') this.group.configure({ each });
    else this.group.configure({ shared });
  }

  private run(key: string): void {
    const task = () =>
      new Promise<void>((done) => {
        this.passed(key);
        this.clock.setTimer(() => {
          this.inFlight -= 1;
          done();
        }, 10);
      });
    this.fates.push(fate(this.group.run(key, task)));
  }

  /** A request is sent only if it keeps the limits that are in force now. */
  private passed(key: string): void {
    const at = this.clock.now();
    this.sent.push({ key, at });
    this.inFlight += 1;
    const recent = this.sent.filter((one) => at - one.at < WINDOW_MS);
    expect(recent.length).toBeLessThanOrEqual(this.requests);
    expect(recent.filter((one) => one.key === key).length).toBeLessThanOrEqual(this.own);
    expect(this.inFlight).toBeLessThanOrEqual(this.slots);
  }
}

it('a group whose limits change in any order keeps those in force, and loses no request', async () => {
  const law = fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
    const world = new World();
    for (const each of steps) await world.play(each);
    await world.finish();
  });
  await fc.assert(law, { numRuns: runs(100) });
});
