import type { Random } from '../../model/clock.ts';

/** So many rejections in a row, with nothing accepted between, are no matter of rate. */
const REJECTIONS = 3;
const FIRST_PROBE_MS = 1_000;
const LAST_PROBE_MS = 8_000;
/** Probes go between this part of their time and as much above it. */
const LEAST_JITTER = 0.75;
const JITTER = 0.5;
/** An attempt counts as accepted if no rejection has come within this... */
const LEAST_SILENCE_MS = 250;
/** ... and within so many times what rejections take. */
const SILENCE_FACTOR = 4;
/** ... and this at the most: a machine may have slept while one was on its way. */
const MOST_SILENCE_MS = 30_000;
const DELAY_WEIGHT = 1 / 8;

/**
 * Finds out when a provider lets nothing in at all, and sends single probes until it does: the first
 * a second after the last rejection, each further one twice as late, up to 8 s, with jitter.
 */
export class Outage {
  readonly #random: Random;
  readonly #onEnd: (lastedMs: number, now: number) => void;
  #isOn = false;
  #since = 0;
  #probeMs = FIRST_PROBE_MS;
  #nextProbeAt = 0;
  /** The probe that is out. */
  #probe: { readonly order: number; readonly at: number } | undefined = undefined;
  /** The first attempt that was sent after it was noticed. */
  #fromOrder = 0;
  #inRow = 0;
  /** Attempts sent when the last rejection was counted, and when that was. */
  #countedTo = 0;
  #countedAt = Number.NEGATIVE_INFINITY;
  #delayMs = 0;

  /** @param onEnd told how long it lasted */
  constructor(random: Random, onEnd: (lastedMs: number, now: number) => void) {
    this.#random = random;
    this.#onEnd = onEnd;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Milliseconds until a probe may go, or the one that is out counts as accepted. */
  wait(now: number): number {
    if (!this.#isOn) return 0;
    if (this.#probe === undefined) return Math.max(0, this.#nextProbeAt - now);
    const leftMs = this.#probe.at + this.#silenceMs - now;
    if (leftMs > 0) return leftMs;
    this.#end(now);
    return 0;
  }

  sent(order: number, now: number): void {
    if (this.#isOn) this.#probe = { order, at: now };
  }

  /** A probe has ended without an answer. */
  withdrawn(order: number, now: number): void {
    if (this.#probe?.order !== order) return;
    this.#probe = undefined;
    this.#nextProbeAt = now;
  }

  accepted(order: number, now: number): void {
    if (this.#isOn && order >= this.#fromOrder) this.#end(now);
  }

  /**
   * @param isInRow whether nothing was accepted since the last rejection
   * @param sent attempts that were sent by now
   * @param tells whether it says when to come back, so that nothing need be found out
   */
  rejected(
    { order, at }: { readonly order: number; readonly at: number },
    isInRow: boolean,
    sent: number,
    now: number,
    tells: boolean,
  ): void {
    this.#delayMs += (now - at - this.#delayMs) * DELAY_WEIGHT;
    // What was sent before the last was noticed is the same news: too many were sent at once.
    const isLater = order >= this.#countedTo && at > this.#countedAt;
    if (!isInRow || isLater) {
      this.#inRow = isInRow ? this.#inRow + 1 : 1;
      this.#countedTo = sent;
      this.#countedAt = now;
    }
    if (tells) return;
    if (this.#isOn) {
      if (order !== this.#probe?.order) return;
      this.#probeMs = Math.min(LAST_PROBE_MS, this.#probeMs * 2);
    } else {
      if (this.#inRow < REJECTIONS) return;
      this.#isOn = true;
      this.#since = at;
      this.#fromOrder = sent;
      this.#probeMs = FIRST_PROBE_MS;
    }
    this.#probe = undefined;
    this.#nextProbeAt = now + this.#probeMs * (LEAST_JITTER + JITTER * this.#random());
  }

  get #silenceMs(): number {
    const usualMs = Math.max(LEAST_SILENCE_MS, SILENCE_FACTOR * this.#delayMs);
    return Math.min(MOST_SILENCE_MS, usualMs);
  }

  #end(now: number): void {
    const endedAt = this.#probe?.at ?? now;
    this.#isOn = false;
    this.#inRow = 0;
    this.#probe = undefined;
    this.#onEnd(endedAt - this.#since, endedAt);
  }
}
