import fc from 'fast-check';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FleetModel } from '../../src/fleet/model/fleet-model.ts';
import {
  type Data,
  type ExchangeRequest,
  MICRO,
  PROTOCOL,
  type SharedConfig,
} from '../../src/fleet/protocol.ts';
import { argumentOf, SCRIPT, WORKERS_SCRIPT } from '../../src/redis/script.ts';
import { canRun } from '../dashboards/programs.ts';
import { anyText } from '../support/any-text.ts';
import { type Redis as RedisServer, startRedis } from '../support/redis.ts';

/** A call of the server takes less than this, in ms. */
const SOON_MS = 5_000;
const WORKERS = ['a', 'b', 'c', 'd'];

const often0 = (most: number) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(most) });

const config = fc.record({
  limits: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('requests', 'tokens', 'bytes'),
      capacity: fc.integer({ min: 1, max: 50_000 }).map((n) => n * MICRO),
      perHour: fc.integer({ min: 1, max: 1e14 }),
    }),
    { selector: ({ name }) => name, maxLength: 3 },
  ),
  slots: fc.integer({ min: 1, max: 30 }),
  bytes: fc.integer({ min: 0, max: 1_000 }),
  ttl: fc.constantFrom(100_000, 1_000_000, 5_000_000),
  keep: fc.constantFrom(100e6, 86_400e6),
  tick: fc.constant(50_000),
  startSlots: often0(10),
});

const amounts = (least: number) =>
  fc.array(fc.integer({ min: least, max: 20_000 * MICRO }), { minLength: 5, maxLength: 5 });
const flag = (weight: number) =>
  fc.oneof(
    { weight, arbitrary: fc.constant(0 as const) },
    { weight: 1, arbitrary: fc.constant(1 as const) },
  );

const data = fc.array(
  fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: 1e-6, max: 1e15 }),
    anyText({ maxLength: 12 }),
    fc.constant<Data>([1, ['"', -2]]),
  ),
  { maxLength: 4 },
);

const call = fc.record({
  worker: fc.nat(WORKERS.length - 1),
  elapsed: fc.oneof(fc.nat(50_000), fc.nat(2_000_000), fc.integer({ min: -1e9, max: 1e9 })),
  isRepeated: flag(9),
  forgets: flag(9),
  config: fc.option(fc.nat(2), { freq: 3 }),
  workers: fc.nat(6),
  took: often0(1_500_000),
  slots: fc.nat(12),
  alone: flag(4),
  wantedSlots: often0(20),
  headSlots: fc.nat(3),
  keeps: flag(2),
  spareSlots: often0(20),
  bytes: fc.nat(300),
  wantedBytes: often0(900),
  headBytes: fc.nat(1_200),
  unused: fc.oneof(fc.constant([0, 0, 0, 0, 0]), amounts(0)),
  settled: fc.oneof(fc.constant([0, 0, 0, 0, 0]), amounts(-20_000 * MICRO)),
  returned: fc.oneof(fc.constant([0, 0, 0, 0, 0]), amounts(0)),
  demand: fc.array(
    fc.record({
      count: fc.integer({ min: 1, max: 200 }),
      costs: fc.array(fc.nat(200 * MICRO), { minLength: 3, maxLength: 3 }),
      tokens: fc.nat(200 * MICRO),
      spare: flag(3),
    }),
    { maxLength: 4 },
  ),
  closed: often0(500_000),
  throttled: often0(500_000),
  broken: often0(300_000),
  leads: flag(1),
  isOfTerm: flag(4).map((other) => other === 0),
  heard: fc.nat(4),
  sends: often0(9),
  report: fc.option(data, { freq: 3, nil: undefined }),
  learned: fc.option(data, { freq: 2, nil: undefined }),
  plan: fc.option(
    fc.record({
      requestsPerHour: fc.nat(1e12),
      alonePerHour: fc.nat(1e12),
      requestsCapacity: fc.nat(100 * MICRO),
      tokensPerHour: fc.nat(1e14),
      tokensCapacity: fc.nat(1e6 * MICRO),
      slots: fc.nat(20),
      budget: fc.oneof(fc.nat(40), fc.constant(1e9)),
      closed: often0(300_000),
      isOut: flag(3),
      origin: fc.nat(3),
      measuredPerHour: fc.nat(1e12),
      measured: fc.nat(9),
      waitShare: fc.nat(MICRO),
    }),
    { freq: 2 },
  ),
  leaves: flag(15),
});

describe.skipIf(!canRun('redis-server'))('the script of the store', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: `redis://127.0.0.1:${server.port}` });
    await client.connect();
  });
  afterAll(async () => {
    client?.destroy();
    await server?.stop();
  });

  it('answers each call of a generated script as the model does', async () => {
    let round = 0;
    const parts = ['state', 'workers', 'leases', 'active', 'reports', 'learned'];
    const keys = () => parts.map((part) => `{${round}}:${part}`);
    const scripts = fc.array(call, { minLength: 5, maxLength: 60 });
    const configs = fc.array(config, { minLength: 3, maxLength: 3 });
    let grants = 0;
    let reports = 0;
    let terms = 0;
    let handed = 0;
    let most = 0;
    let expiries = 0;
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(scripts, configs, async (steps, known) => {
        round += 1;
        const model = new FleetModel();
        let time = 1_700_000_000_000_000;
        const last = WORKERS.map(() => ({
          sequence: 0,
          sent: 0,
          run: 0,
          epoch: 0,
          term: 0,
          heard: 0,
        }));
        for (const step of steps) {
          const {
            worker,
            elapsed,
            isRepeated,
            forgets,
            config: place,
            plan,
            isOfTerm,
            heard,
            ...rest
          } = step;
          time += elapsed;
          const state = last[worker] as (typeof last)[number];
          if (isRepeated === 0) {
            state.sequence += 1;
            state.sent += step.sends;
          }
          const given = place === null ? undefined : (known[place] as SharedConfig);
          const request: ExchangeRequest = {
            ...rest,
            protocol: PROTOCOL,
            term: isOfTerm ? state.term : heard,
            heard: state.heard - Math.max(0, heard - 2),
            worker: WORKERS[worker] as string,
            sequence: Math.max(1, state.sequence),
            sent: state.sent,
            run: forgets === 1 ? 7 : state.run,
            epoch: state.epoch,
            headSlots: Math.min(rest.headSlots, rest.wantedSlots),
            headBytes: Math.min(rest.headBytes, rest.wantedBytes),
            ...(given === undefined ? {} : { config: given }),
            ...(plan === null ? {} : { plan }),
          };
          if (time >= model.expiresAt) expiries += 1;
          const expected = model.exchange(request, time);
          const text = await client.eval(SCRIPT, {
            keys: keys(),
            arguments: [argumentOf(request), `${time}`],
          });
          const reply = JSON.parse(String(text));
          expect(reply).toEqual(JSON.parse(JSON.stringify(expected)));
          const shares = await client.eval(WORKERS_SCRIPT, { keys: keys(), arguments: [] });
          expect(JSON.parse(String(shares))).toEqual(model.workers());
          most = Math.max(most, model.workers().length);
          if (expected.status === 'ok') {
            grants += expected.count;
            state.run = expected.run;
            state.epoch = expected.epoch;
            state.term = expected.leads === 1 ? expected.terms : 0;
            state.heard = expected.lastReport;
            terms = Math.max(terms, expected.terms);
            reports += expected.reports?.length ?? 0;
            if (expected.learned !== undefined) handed += 1;
          }
        }
        const keepMs = Math.ceil((model.expiresAt - time) / 1_000);
        const left = await Promise.all(keys().map((key) => client.pTTL(key)));
        // -2: there is no such key, since it would be empty.
        for (const ms of left.filter((each) => each !== -2)) {
          expect(ms).toBeLessThanOrEqual(keepMs);
          expect(ms).toBeGreaterThan(keepMs - SOON_MS);
        }
        kept += left.filter((ms) => ms > 0).length;
      }),
      { numRuns: 60 },
    );
    // The scripts do reach what they are for.
    expect(grants).toBeGreaterThan(1_000);
    expect(reports).toBeGreaterThan(100);
    expect(terms).toBeGreaterThan(2);
    expect(handed).toBeGreaterThan(5);
    expect(most).toBe(WORKERS.length);
    expect(expiries).toBeGreaterThan(10);
    expect(kept).toBeGreaterThan(100);
  });
});
