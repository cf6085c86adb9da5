import {
  type ExchangeReply,
  type ExchangeRequest,
  MOST_TOLD,
  type SharedConfig,
  type WorkerShare,
} from '../protocol.ts';
import { refill } from './bucket.ts';
import {
  close,
  type FleetState,
  keepsFor,
  newFleetState,
  newRecord,
  type WorkerRecord,
} from './fleet-state.ts';
import { grant } from './grant.ts';
import {
  comesBack,
  Expiry,
  lead,
  RECOVERY,
  report,
  reportGone,
  resign,
  tellsMore,
} from './membership.ts';
import { addUnused, lapse, reportUnused } from './outstanding.ts';
import { giveUp, isClaimed } from './pool.ts';
import { configure, settle, tookTime } from './rate-grants.ts';

/** A worker that wants nothing for this time has no share of short limits, in microseconds. */
const ACTIVE = 100_000;

/**
 * The shared store as a pure state machine: the time is an argument. The script of `headgate/redis`
 * does the same, statement by statement. A call costs O(log n) for n workers.
 */
export class FleetModel {
  private state: FleetState = newFleetState();
  private readonly records = new Map<string, WorkerRecord>();
  /** When the lease of each worker ends. */
  private readonly leases = new Expiry();
  /** Until when each worker counts as active: it sends or has waiting requests. */
  private readonly active = new Expiry();

  /** @param time the store's clock, in microseconds */
  exchange(request: ExchangeRequest, time: number): ExchangeReply {
    if (time >= this.state.expiresAt) this.begin(0);
    const { state } = this;
    if (state.protocol > request.protocol) return { status: 'protocol', protocol: state.protocol };
    if (state.protocol < request.protocol) this.begin(request.protocol);
    this.advance(time);
    const reply = this.answer(request, time);
    this.state.expiresAt = time + keepsFor(this.state);
    return reply;
  }

  /** When the state expires if no worker calls before, by the store's clock, in microseconds. */
  get expiresAt(): number {
    return this.state.expiresAt;
  }

  private answer(request: ExchangeRequest, time: number): ExchangeReply {
    const known = this.records.get(request.worker);
    const { config } = this.state;
    if (known?.reply !== undefined && request.sequence <= known.sequence) {
      // The call is a repetition: renews the lease, and sends the same reply again.
      this.leases.set(request.worker, this.state.alive + (config?.ttl ?? 0));
      if (request.alone === 1) {
        comesBack(this.state, known, request, false);
        tellsMore(this.state, known, request);
      }
      return known.reply;
    }
    if (config === undefined && request.config === undefined) {
      return { status: 'config', protocol: request.protocol };
    }
    return this.serve(request, known, time);
  }

  /** The workers that hold the most slots, as of the last call. */
  workers(): readonly WorkerShare[] {
    const { leader, leadsUntil, alive } = this.state;
    const shares = [...this.records].map(([worker, { slots, bytes, sent }]): WorkerShare => {
      const leads = leader === worker && leadsUntil > alive ? 1 : 0;
      const active = this.active.has(worker) ? 1 : 0;
      return { worker, slots: slots.held, bytes: bytes.held, sent, active, leads };
    });
    shares.sort(
      (one, other) =>
        other.slots - one.slots || other.sent - one.sent || (one.worker < other.worker ? -1 : 1),
    );
    return shares.slice(0, MOST_TOLD);
  }

  private begin(protocol: number): void {
    this.state = newFleetState();
    this.state.protocol = protocol;
    this.records.clear();
    this.leases.clear();
    this.active.clear();
  }

  private advance(time: number): void {
    const { state } = this;
    const elapsed = state.run === 0 ? 0 : Math.max(0, time - state.readAt);
    state.readAt = time;
    state.now += elapsed;
    const { config } = state;
    const most = config === undefined ? elapsed : Math.floor(config.ttl / 2);
    state.alive += Math.min(elapsed, most);
    if (config !== undefined && elapsed >= most) state.awaitedUntil = state.now + config.ttl;
    for (const bucket of state.buckets) refill(bucket, elapsed);
    for (const worker of this.leases.due(state.alive)) this.forget(worker);
    for (const worker of this.active.due(state.alive)) {
      const record = this.records.get(worker);
      if (record !== undefined) lapse(state, record);
    }
  }

  private forget(worker: string): void {
    const { state } = this;
    const record = this.records.get(worker);
    if (record !== undefined) {
      giveUp(state.slots, record.slots);
      giveUp(state.bytes, record.bytes);
      lapse(state, record);
      reportGone(state, worker);
    }
    this.records.delete(worker);
    this.leases.delete(worker);
    this.active.delete(worker);
    if (state.leader === worker) resign(state);
  }

  private serve(
    request: ExchangeRequest,
    known: WorkerRecord | undefined,
    time: number,
  ): ExchangeReply {
    const { state } = this;
    const begins = state.run === 0;
    if (begins) {
      state.run = Math.max(1, Math.floor(time / 1_000));
      if (request.run !== 0) state.recoveringUntil = state.now + RECOVERY;
    }
    if (request.config !== undefined) configure(state, request.config);
    if (begins) state.roomUntil = state.now + (state.config as SharedConfig).ttl;
    const knows =
      request.config !== undefined || (request.run === state.run && request.epoch === state.epoch);
    const record = known ?? newRecord();
    this.records.set(request.worker, record);
    const hasForgotten = known === undefined && request.run !== 0 && request.run !== state.run;
    comesBack(state, record, request, hasForgotten);
    const config = state.config as SharedConfig;
    this.leases.set(request.worker, state.alive + config.ttl);
    close(state, request);
    tookTime(state, request);
    if (knows) {
      reportUnused(state, record, request.unused);
      settle(state, request);
    }
    report(state, request, record);
    const leads = lead(state, request);
    const wants = knows && request.demand.some(({ spare }) => spare !== 1);
    const hasReserved = request.unused.some(isAbove0);
    const isActive =
      wants ||
      hasReserved ||
      request.wantedSlots > 0 ||
      request.wantedBytes > 0 ||
      (request.slots > 0 && isClaimed(state.slots, record.slots)) ||
      (request.bytes > 0 && isClaimed(state.bytes, record.bytes));
    // A worker that waits calls less often while nothing can be granted.
    const lasts = ACTIVE + Math.floor(config.ttl / 4);
    if (isActive) this.active.set(request.worker, state.alive + lasts);
    else this.active.delete(request.worker);
    const reply = grant(state, request, record, {
      mayGrant: knows && request.leaves === 0,
      isNew: known === undefined,
      leads,
      workers: this.leases.size,
      active: this.active.size,
    });
    // With a grant it counts until that is due, also if its next call comes later: if it counted
    // longer, slow calls would let windows exceed their limit (measured: 1.16 at calls of 400 ms).
    const latest = Math.max(...reply.until);
    if (isActive && latest > 0) {
      this.active.set(request.worker, state.alive + ACTIVE + latest);
    }
    if (knows) addUnused(state, record, reply.amounts);
    record.sequence = request.sequence;
    record.sent = request.sent;
    record.reply = reply;
    if (request.leaves === 1) this.forget(request.worker);
    return reply;
  }
}

function isAbove0(amount: number): boolean {
  return amount > 0;
}
