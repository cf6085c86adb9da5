import type { Verdict } from '../model/feedback.ts';
import type { GateKind, GateWait } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import { shownName } from './format.ts';
import type { Part } from './wire-requests.ts';

type Waits = Readonly<Partial<Record<GateKind, GateWait>>>;

/** The most parts (waits and attempts) of one request that are kept. */
const MOST_PARTS = 60;

/** What happened to one request, in order: waits and attempts. */
export class RequestHistory {
  readonly id: number;
  readonly #parts: Part[] = [];
  /** For each attempt, when it was sent, and the epoch of the backoff at that time. */
  readonly #epochs: { readonly atMs: number; readonly epoch: number }[] = [];
  /** The status, or the code or class of the error, of the last rejected attempt. */
  lastError: string | undefined = undefined;
  #startMs: number;
  #waits: Waits = {};
  /** Whether an attempt runs. */
  isOpen = true;

  /** @param ticket of a request that was sent once at most */
  constructor(id: number, ticket: Ticket) {
    this.id = id;
    const { startedAt, arrivedAt } = ticket;
    this.#startMs = this.#addWaits(ticket, 0, startedAt - arrivedAt);
    this.#epochs.push({ atMs: this.#startMs, epoch: ticket.epoch });
    this.isOpen = ticket.attempts > 0;
  }

  /** Records that another attempt is sent. */
  resent(ticket: Ticket): void {
    const { ageMs } = ticket;
    const last = this.#parts.at(-1);
    const fromMs = last === undefined ? 0 : last.startMs + last.ms;
    this.#addWaits(ticket, fromMs, ageMs);
    this.#startMs = ageMs;
    this.isOpen = true;
    this.#epochs.push({ atMs: ageMs, epoch: ticket.epoch });
    if (this.#epochs.length > MOST_PARTS) this.#epochs.shift();
  }

  /** Records that an attempt was rejected. */
  answered(ticket: Ticket, { kind, status, retryAfterMs }: Verdict, error: string): void {
    this.isOpen = false;
    this.lastError = status === undefined ? error : `HTTP ${status}`;
    this.#add({
      kind: 'attempt',
      attempt: ticket.attempts,
      startMs: this.#startMs,
      ms: Math.max(0, ticket.ageMs - this.#startMs),
      result: kind,
      ...(status === undefined ? { error } : { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }

  /** The epoch of the backoff when the first attempt after a time was sent. */
  epochAt(startMs: number): number | undefined {
    return this.#epochs.find(({ atMs }) => atMs >= startMs)?.epoch;
  }

  /** The whole history, up to the end of the request. */
  parts(ticket: Ticket, durationMs: number, result: string): readonly Part[] {
    if (this.isOpen && ticket.attempts > 0) {
      this.#add({
        kind: 'attempt',
        attempt: ticket.attempts,
        startMs: this.#startMs,
        ms: Math.max(0, durationMs - this.#startMs),
        result,
        ...(ticket.refusal !== undefined && { error: ticket.refusal.name }),
      });
    } else {
      const last = this.#parts.at(-1);
      this.#addWaits(ticket, last === undefined ? 0 : last.startMs + last.ms, durationMs);
    }
    return this.#parts;
  }

  /** Adds the new waits of the request. @returns when it passed the gate, in ms */
  #addWaits(ticket: Ticket, fromMs: number, untilMs: number): number {
    const waits = ticket.hasWaited ? ticket.waits : {};
    let startMs = fromMs;
    // The last entry of the list is the gate that the request waited for first.
    for (const [gate, wait] of Object.entries(waits).reverse()) {
      const kind = gate as GateKind;
      const ms = wait.waitMs - (this.#waits[kind]?.waitMs ?? 0);
      if (ms <= 0) continue;
      const name = wait.limits === undefined ? undefined : Object.keys(wait.limits)[0];
      const limit = name !== undefined && { limit: shownName(name, 80) };
      this.#add({ kind: 'wait', gate: kind, startMs, ms, ...limit });
      startMs += ms;
    }
    this.#waits = waits;
    return untilMs >= startMs ? untilMs : startMs;
  }

  /** Adds a part. Beyond the bound it keeps the first and the latest parts. */
  #add(part: Part): void {
    this.#parts.push(part);
    if (this.#parts.length > MOST_PARTS) this.#parts.splice(MOST_PARTS / 2, 1);
  }
}
