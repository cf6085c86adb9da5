/**
 * Proves that gates which never bind in the measurements still have an effect. Each gate is made
 * tight, with the others unchanged, and must then hold back or refuse the right requests.
 */
import { expectEqual } from './expect.ts';
import type { Gating } from './gates.ts';

const REQUESTS = 1_000;
/** The number of requests that a tight limit admits. */
const FEW = 10;
const TIGHT_MS = 2;

/**
 * Submits the values 0 to `count - 1` at once.
 * @returns the errors of the failed requests
 */
export type Send = (
  gating: Gating,
  count: number,
  task: (value: number) => Promise<void>,
) => Promise<unknown[]>;

/** The results of the requests, in the order of sending. */
interface Observed {
  readonly sent: readonly number[];
  /** The largest number of requests in flight. */
  readonly peak: number;
  readonly elapsedMs: number;
  /** The number of failed requests by the name of the error. */
  readonly errors: ReadonlyMap<string, number>;
}

type Proof = (send: Send, gating: Gating) => Promise<void>;

/** The proofs by the option that turns on the gate. */
const proofs: Readonly<Record<keyof Gating, Proof | undefined>> = {
  concurrency: async (send, gating) => {
    const { peak, sent } = await observe(send, gating);
    expectEqual('requests sent', sent.length, REQUESTS);
    expectEqual('requests at once', peak, gating.concurrency);
  },
  limits: async (send, gating) => {
    for (const [name, limit] of Object.entries(gating.limits ?? {})) {
      // Each value below 1,000 has up to three bytes, which count as one token.
      const limits = { ...gating.limits, [name]: { ...limit, limit: FEW } };
      const { sent, errors } = await observe(send, { ...gating, limits, onLimit: 'fail' });
      expectEqual(`requests in a limit of ${FEW} ${name}`, sent.length, FEW);
      expectEqual(`above ${name}`, errors.get('RateLimitExceededError'), REQUESTS - FEW);
    }
  },
  onLimit: undefined,
  pace: async (send, gating) => {
    const pace = { ...gating.pace, intervalMs: TIGHT_MS, jitter: 0 };
    const { sent, elapsedMs } = await observe(send, { ...gating, pace }, FEW);
    expectEqual('paced requests', sent.length, FEW);
    expectEqual('requests were paced', elapsedMs >= (FEW - 1) * TIGHT_MS, true);
  },
  circuitBreaker: async (send, gating) => {
    const unauthorised = () => Promise.reject(Object.assign(new Error('no'), { status: 401 }));
    const refusing = { ...gating, circuitBreaker: { onOpen: 'fail' } } as const;
    const { sent, errors } = await observe(send, refusing, REQUESTS, unauthorised);
    expectEqual('rejected requests', errors.get('CircuitOpenError'), REQUESTS - sent.length);
    expectEqual('the circuit opened', sent.length <= 2 * (gating.concurrency ?? 0), true);
  },
  adaptive: async (send, gating) => {
    const { adaptive } = gating;
    const options = typeof adaptive === 'object' ? adaptive : ({ strategy: 'failures' } as const);
    const lowered = { ...options, initialLimit: FEW };
    const tight = 'minLimit' in lowered ? { ...lowered, minLimit: FEW } : lowered;
    const { peak } = await observe(send, { ...gating, adaptive: tight }, 10 * FEW);
    expectEqual('requests at once, below an adaptive limit', peak, FEW);
  },
  maxQueue: async (send, gating) => {
    const { sent, errors } = await observe(send, { ...gating, maxQueue: FEW });
    expectEqual('requests beside a full queue', sent.length, FEW + (gating.concurrency ?? 0));
    expectEqual('above the queue', errors.get('QueueFullError'), REQUESTS - sent.length);
  },
  waitTimeoutMs: async (send, gating) => {
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 20 * TIGHT_MS));
    const tight = { ...gating, waitTimeoutMs: TIGHT_MS };
    const { sent, errors } = await observe(send, tight, REQUESTS, slow);
    expectEqual('timed out', errors.get('WaitTimeoutError'), REQUESTS - sent.length);
    expectEqual('some had to wait', sent.length < REQUESTS, true);
  },
  priority: async (send, gating) => {
    const { sent } = await observe(send, { ...gating, priority: (value) => value });
    const first = gating.concurrency ?? 0;
    expectEqual('requests sent', sent.length, REQUESTS);
    expectEqual('the most urgent of those that wait', sent[first], REQUESTS - 1);
    expectEqual('the least urgent', sent.at(-1), first);
  },
};

/** @throws Error if one of the gates has no effect */
export async function proveGates(send: Send, gating: Gating): Promise<void> {
  for (const [option, proof] of Object.entries(proofs)) {
    if (!Object.hasOwn(gating, option)) continue;
    if (proof === undefined) throw new TypeError(`no proof that \`${option}\` is at work`);
    await proof(send, gating);
  }
}

async function observe(
  send: Send,
  gating: Gating,
  count = REQUESTS,
  answer = () => new Promise<void>((resolve) => setTimeout(resolve, TIGHT_MS)),
): Promise<Observed> {
  const sent: number[] = [];
  let active = 0;
  let peak = 0;
  const start = performance.now();
  // Off, because an adaptive rate admits only 16 requests at first.
  const failures = await send({ adaptive: false, ...gating }, count, async (value) => {
    sent.push(value);
    active += 1;
    peak = Math.max(peak, active);
    try {
      await answer();
    } finally {
      active -= 1;
    }
  });
  const errors = new Map<string, number>();
  for (const failure of failures) {
    const name = failure instanceof Error ? failure.name : String(failure);
    errors.set(name, (errors.get(name) ?? 0) + 1);
  }
  return { sent, peak, elapsedMs: performance.now() - start, errors };
}
