import type { RequestGate } from '../request/request-gate.ts';
import { duration, plural, shownName } from './format.ts';
import type { FleetRow, FleetView } from './wire.ts';

/** How often the store is asked for its workers, while a page shows them. */
const ASK_MS = 2_000;
/** The shortest time over which the rate of a worker is measured. */
const LEAST_MS = 1_000;

/** The types of a gate's fleet, since the inspector does not import stores. */
type RemoteLimits = NonNullable<RequestGate['fleet']>;
type FleetSnapshot = NonNullable<ReturnType<RemoteLimits['snapshot']>>;
type WorkerShare = NonNullable<Awaited<ReturnType<RemoteLimits['workers']>>>[number];

/** The count of a worker in an earlier reply of the store. */
interface Seen {
  readonly sent: number;
  readonly at: number;
}

/** Follows the workers of one key, for as long as a page is open. */
export class FleetWatch {
  readonly #wallNow: () => number;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #shares: readonly WorkerShare[] = [];
  #before = new Map<string, Seen>();
  #rates = new Map<string, number>();
  #last: FleetView | undefined = undefined;

  constructor(wallNow: () => number) {
    this.#wallNow = wallNow;
  }

  /**
   * The workers by the last reply of the store, which is asked again for the next look.
   * @param gate undefined: the gate has ended, and its last view is returned
   */
  view(gate: RequestGate | undefined): FleetView | undefined {
    const fleet = gate?.fleet;
    const own = fleet?.snapshot();
    if (gate === undefined || fleet === undefined || own === undefined) return this.#last;
    this.#ask(fleet);
    const rows = this.#rows(own);
    this.#last = {
      headline: headlineOf(own, fleet.onStoreLoss),
      isAway: own.isAway,
      slots: gate.slots.maxLimit,
      rows,
      more: Math.max(0, own.workers - rows.length),
      latencyMs: own.latencyMs,
    };
    return this.#last;
  }

  #ask(fleet: RemoteLimits): void {
    const now = this.#wallNow();
    if (this.#isAsking || now - this.#askedAt < ASK_MS) return;
    this.#askedAt = now;
    this.#isAsking = true;
    fleet
      .workers()
      .then(
        (shares) => this.#heard(shares ?? []),
        // The store cannot be reached, which the snapshot shows.
        () => {},
      )
      .finally(() => {
        this.#isAsking = false;
      });
  }

  #heard(shares: readonly WorkerShare[]): void {
    const now = this.#wallNow();
    const before = this.#before;
    this.#before = new Map();
    const rates = new Map<string, number>();
    for (const { worker, sent } of shares) {
      const seen = before.get(worker);
      const isLong = seen !== undefined && now - seen.at >= LEAST_MS;
      if (isLong) rates.set(worker, ((sent - seen.sent) * 1_000) / (now - seen.at));
      this.#before.set(worker, seen === undefined || isLong ? { sent, at: now } : seen);
    }
    this.#shares = shares;
    this.#rates = rates;
  }

  /**
   * The rows of all workers that the store reported. The row of this process shows its own, newer
   * figures.
   */
  #rows(own: FleetSnapshot): FleetRow[] {
    const rows = this.#shares.map(({ worker, slots, bytes, active, leads }): FleetRow => {
      const isThis = worker === own.worker;
      const perSecond = this.#rates.get(worker);
      return {
        name: nameOf(worker),
        isThis,
        isActive: active === 1 || slots > 0 || (perSecond ?? 0) > 0,
        slots: isThis ? own.slots.held : slots,
        bytes: isThis ? own.bytes.held : bytes,
        perSecond,
        leads: leads === 1,
      };
    });
    if (rows.some(({ isThis }) => isThis)) return rows;
    const itself = {
      name: nameOf(own.worker),
      isThis: true,
      isActive: own.slots.used > 0 || own.waitsFor !== '',
      slots: own.slots.held,
      bytes: own.bytes.held,
      perSecond: undefined,
      leads: own.leads,
    };
    return [itself, ...rows];
  }
}

/** The given name of a worker with the beginning of its run's id, or that beginning alone. */
function nameOf(worker: string): string {
  const place = worker.lastIndexOf('/');
  const run = worker.slice(place + 1, place + 9);
  return place < 0 ? run : `${shownName(worker.slice(0, place), 240)} (${run})`;
}

function headlineOf(own: FleetSnapshot, onStoreLoss: RemoteLimits['onStoreLoss']): string {
  if (own.isAway) {
    const meanwhile =
      onStoreLoss === 'pause'
        ? 'Nothing is sent until it answers.'
        : 'Each worker goes on with an equal share of the limits until it answers.';
    return `The store cannot be reached. ${meanwhile}`;
  }
  if (own.calls === 0) return 'The store was not asked yet: it is, with the first request.';
  const works = own.workers === 1 ? 'works' : 'work';
  return `${plural(own.workers, 'worker')} ${works} on this key. The store answers in ${duration(own.latencyMs)}.`;
}
