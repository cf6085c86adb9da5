import type { LimiterSnapshot } from '../../src/limiter/snapshot.ts';
import { LimiterClosedError } from '../../src/model/errors.ts';
import { isPaced } from './options.ts';
import type { Req } from './requests.ts';
import type { World } from './world.ts';

const NEARLY = 1e-6;

/** The laws of a moment without activity: the library's figures are true. */
export class Rest {
  readonly #world: World;
  #before: { inFlight: number; throttled: number; used: number; waiting: number } = {
    inFlight: 0,
    throttled: 0,
    used: 0,
    waiting: 0,
  };

  constructor(world: World) {
    this.#world = world;
  }

  check(): void {
    const { clock, limiter, streams, warden } = this.#world;
    const waiting = warden.requests.filter((req) => req.waits);
    const isPaused = limiter?.snapshot().paused !== undefined;
    const isStuck =
      !isPaused &&
      waiting.length > 0 &&
      warden.attempts.out.size === 0 &&
      clock.pendingTimers === 0;
    if (isStuck) this.#fault(`${waiting.length} wait for nothing`);
    // One that has just passed a gate, and of which a user is told, waits nowhere: another may
    // come.
    const isBound = warden.disturbedAt < 0 && !warden.isCrowded;
    const most = Math.max(warden.mostQueue, this.#before.waiting);
    if (isBound && waiting.length > most) this.#fault(`${waiting.length} wait, of ${most}`);
    warden.mostQueue = warden.maxQueue;
    const late = waiting.find(
      ({ arrivedAt, begunAt }) =>
        begunAt >= warden.timedFrom && clock.now() - arrivedAt >= warden.waitTimeoutMs + 1,
    );
    if (late !== undefined)
      this.#fault(`request ${late.id} still waits after ${clock.now() - late.arrivedAt} ms`);
    for (const req of warden.requests) {
      if (req.ends > 1) this.#fault(`request ${req.id} ended ${req.ends} times`);
      const lives = req.ticket !== undefined && req.ticket.outcome === undefined;
      const isStream = req.via === 'stream';
      if (lives && req.isGone) this.#fault(`request ${req.id} holds on though its user has gone`);
      if (lives && req.ends > 0 && (!isStream || this.#world.setup.outcomes))
        this.#fault(`request ${req.id} holds on after its end`);
      if (lives && req.isRefused) this.#fault(`request ${req.id} holds on though refused`);
    }
    const deadlineMs = this.#world.setup.deadlineMs ?? Number.POSITIVE_INFINITY;
    const { attemptTimeoutMs = Number.POSITIVE_INFINITY } = this.#world.setup;
    for (const ticket of warden.alive) {
      // A lease is its user's, for as long as that likes.
      if (ticket.attempts === 0 || warden.isLease(ticket)) continue;
      const sent = warden.attempts.out.get(ticket);
      const where = sent === undefined ? 'waits' : 'is in flight';
      if (clock.now() - ticket.arrivedAt > deadlineMs + 1)
        this.#fault(`a request ${where} beyond its deadline`);
      if (sent !== undefined && clock.now() - sent.at > attemptTimeoutMs + 1)
        this.#fault('an attempt is in flight beyond its timeout');
    }
    for (const { state, isSourceOver, arrived } of streams) {
      const isDone = isSourceOver && arrived.every(({ ticket }) => ticket?.outcome !== undefined);
      if (isDone && state === 'open') this.#fault('a stream does not end');
    }
    if (limiter !== undefined) this.#checkSnapshot(limiter.snapshot());
    this.#before.waiting = waiting.length;
  }

  #fault(what: string): void {
    this.#world.warden.fault(what);
  }

  #checkSnapshot(snapshot: LimiterSnapshot): void {
    const { clock, setup, warden } = this.#world;
    const now = clock.now();
    const { concurrency, byteBudget, backoff, circuitBreaker, rateLimit, ended, waiting } =
      snapshot;
    const before = this.#before;
    const same = (name: string, said: unknown, is: unknown) => {
      const isNear =
        typeof said === 'number' && typeof is === 'number' && Math.abs(said - is) < NEARLY;
      if (said !== is && !isNear) this.#fault(`${name} is said to be ${said}, and is ${is}`);
    };
    const most = (name: string, held: number, limit: number) => {
      if (held > limit) this.#fault(`${name}: ${held} of ${limit} are held`);
    };
    const largest = 60 * setup.throttledByteFactor;
    most('slots', concurrency.inFlight, Math.max(warden.mostSlots, before.inFlight));
    most('slots in use', warden.inSlots, concurrency.inFlight);
    most(
      'throttled slots',
      concurrency.throttledInFlight,
      Math.max(warden.mostThrottled, before.throttled),
    );
    most('bytes', byteBudget.used, Math.max(warden.mostBytes + largest, before.used));
    this.#before = {
      inFlight: concurrency.inFlight,
      throttled: concurrency.throttledInFlight,
      used: byteBudget.used,
      waiting: 0,
    };
    if (concurrency.inFlight <= concurrency.limit) warden.mostSlots = snapshot.maxConcurrency;
    if (concurrency.throttledInFlight <= concurrency.throttledLimit) {
      warden.mostThrottled = concurrency.throttledLimit;
    }
    if (byteBudget.used <= byteBudget.maxBytes) warden.mostBytes = byteBudget.maxBytes;
    const { ok, failed, rejected, cancelled, reclaimed } = warden.ended;
    same('ended.ok', ended.ok, ok);
    same('ended.failed', ended.failed, failed);
    same('ended.rejected', ended.rejected, rejected);
    const [least, mostGone] = warden.abandoned;
    const withoutTicket = ended.cancelled - cancelled - reclaimed;
    const isCounted = withoutTicket >= least && withoutTicket <= mostGone;
    if (!isCounted) this.#fault(`${withoutTicket} have gone without a ticket, not ${least}`);
    same('dropped', snapshot.dropped, warden.dropped);
    for (const [name, rate] of warden.attempts.rates) {
      // A window that ends in this very instant may have ended, or not, by the last digit of a sum.
      const before = rate.used(now - NEARLY);
      const used = rateLimit?.[name]?.used;
      same(`used ${name}`, used, used === before ? before : rate.used(now));
    }
    warden.attempts.circuit?.look(now);
    same('the circuit', circuitBreaker?.state, warden.attempts.circuit?.state);
    same('probes', circuitBreaker?.probes, warden.attempts.circuit?.probes);
    this.#checkReasons(snapshot);
    if (setup.isHeard)
      same('closedForMs', backoff.closedForMs, Math.max(0, warden.attempts.backoff.until - now));
    const unsent = warden.requests.filter((req) => req.waits).length;
    const between = [...warden.alive].filter(
      (ticket) => ticket.attempts > 0 && !warden.attempts.out.has(ticket),
    ).length;
    same('paused', snapshot.paused !== undefined, warden.pausedAt < Number.POSITIVE_INFINITY);
    if (waiting < unsent || waiting > unsent + between)
      this.#fault(`${waiting} are said to wait: ${unsent} do, and up to ${between} more`);
    same('binding', snapshot.binding === undefined, waiting === 0);
  }

  /** No request waits that could pass. */
  #checkReasons({ concurrency, byteBudget, backoff, mode, paused }: LimiterSnapshot): void {
    if (paused !== undefined) return;
    const { clock, setup, warden } = this.#world;
    const { attempts } = warden;
    const isThrottled = mode === 'throttled';
    const isFull =
      concurrency.inFlight >= concurrency.limit ||
      (isThrottled && concurrency.throttledInFlight >= concurrency.throttledLimit);
    if (concurrency.waiting > 0 && !isFull) this.#fault('a slot is free, and somebody waits');
    const isOverdrawn = byteBudget.used > byteBudget.maxBytes;
    if (byteBudget.waiting > 0 && !isOverdrawn) this.#fault('bytes are free, and somebody waits');
    if (backoff.waiting === 0 || backoff.nextInMs !== undefined || !setup.isHeard) return;
    const isTesting = attempts.backoff.isTesting(attempts.out.values(), clock.now());
    const isProbing = (attempts.circuit?.probes ?? 0) > 0;
    // A limit that adapts holds back those, too, who have a slot and wait to be sent again.
    const isHeldBack = isPaced(setup) && attempts.out.size >= concurrency.limit;
    if (!isTesting && !isProbing && !isHeldBack)
      this.#fault('an attempt waits, for no time and for no probe');
  }
}

/** From now on all attempts succeed: every request must pass. */
export async function heal(world: World): Promise<void> {
  const { clock, streams, warden } = world;
  world.isHealing = true;
  world.resume();
  for (const { req, lease } of world.held.splice(0)) {
    req.lastAnswer = 'ok';
    req.end('ok');
    lease.release();
  }
  for (const call of world.calls) call.answer('ok');
  for (const stream of streams) {
    if (!stream.isSourceOver) stream.source.complete();
    stream.isSourceOver = true;
  }
  const isDone = () => warden.alive.size === 0 && warden.requests.every((req) => !req.waits);
  await clock.advanceAsync(0);
  // A rate that was learned from few answers may be one in some minutes: that is slow, and no hang.
  const rounds = isPaced(world.setup) ? 1_000 : 100;
  for (let round = 0; round < rounds && !isDone(); round += 1) await clock.advanceAsync(2_000);
  if (!isDone())
    warden.fault(`${warden.alive.size} hang: ${JSON.stringify(world.limiter?.snapshot())}`);
}

/** The laws of the end: every request has a result, and nothing is held. */
export async function checkEnd(world: World): Promise<void> {
  const { clock, limiter, setup, streams, warden } = world;
  const fault = (what: string) => warden.fault(`in the end ${what}`);
  world.listening?.unsubscribe();
  world.drain();
  world.close();
  await clock.advanceAsync(0);
  if (limiter !== undefined && world.drains > 0) fault(`${world.drains} drains are open`);
  if (clock.keepAlive > 0) fault(`${clock.keepAlive} timers keep the process alive`);
  if (clock.pendingTimers > 0) fault(`${clock.pendingTimers} timers are armed`);
  for (const req of warden.requests) {
    const mustEnd = req.via !== 'stream' || !req.isGone;
    if (req.ends !== 1 && mustEnd)
      fault(`request ${req.id} (${req.via}) has ended ${req.ends} times`);
  }
  for (const { state, arrived, seen } of streams) {
    if (state === 'open') fault('a stream is open');
    // Who goes before others, or is refused, has its result before theirs.
    const isOrdered = setup.ordered && !setup.hasPriority && !arrived.some((req) => req.isRefused);
    const isLate = (req: Req, at: number) =>
      seen.slice(0, at).some(({ begunAt }) => begunAt > req.enteredAt);
    if (isOrdered && seen.some(isLate)) fault('results are out of order');
  }
  if (limiter === undefined) return;
  const { concurrency, byteBudget, ended, waiting, state } = limiter.snapshot();
  if (concurrency.inFlight !== 0 || concurrency.throttledInFlight !== 0) fault('slots are held');
  if (byteBudget.used !== 0) fault('bytes are held');
  if (waiting !== 0) fault(`${waiting} wait`);
  if (state !== 'closed') fault(`the limiter is ${state}`);
  const counts = ended.ok + ended.failed + ended.rejected + ended.cancelled;
  const [least, most] = warden.abandoned;
  const isCounted = counts >= warden.tickets + least && counts <= warden.tickets + most;
  if (!isCounted) fault(`${counts} requests have ended, of ${warden.tickets + least}`);
  const late = await limiter.run(() => 'late').catch((error: unknown) => error);
  if (!(late instanceof LimiterClosedError)) fault('a closed limiter takes requests');
}
