import { checkNumber } from '../../util/check.ts';

/** From `atMs` on the limits are multiplied by `factor`. Before the first step the factor is 1. */
export interface CapacityStep {
  /** Milliseconds since the provider was made. */
  atMs: number;
  /** >= 0; 1 is the full limit. */
  factor: number;
}

/** What part of the limits is there, by milliseconds since the provider was made. Must be pure. */
export type CapacityFunction = (nowMs: number) => number;

/** How often a capacity function is asked. In between, the factor stays. */
const SAMPLE_MS = 1000;

/** How much of its limits a provider grants over time: a factor that is constant in pieces. */
export class Capacity {
  readonly #steps: readonly CapacityStep[];
  readonly #sample: CapacityFunction | undefined;

  constructor(capacity: readonly CapacityStep[] | CapacityFunction = []) {
    this.#sample = typeof capacity === 'function' ? capacity : undefined;
    this.#steps =
      typeof capacity === 'function' ? [] : [...capacity].sort((a, b) => a.atMs - b.atMs);
  }

  factorAt(nowMs: number): number {
    return this.#pieceAt(nowMs).factor;
  }

  /** What answers tell of the factor: steps change the limits themselves, other tenants do not. */
  announcedFactorAt(nowMs: number): number {
    return this.#sample === undefined ? this.factorAt(nowMs) : 1;
  }

  /** The integral of the factor from one time to a later one, in milliseconds. */
  integral(fromMs: number, toMs: number): number {
    let sum = 0;
    let atMs = fromMs;
    while (atMs < toMs) {
      const piece = this.#pieceAt(atMs);
      const endMs = Math.min(piece.endMs, toMs);
      sum += piece.factor * (endMs - atMs);
      atMs = endMs;
    }
    return sum;
  }

  #pieceAt(nowMs: number): { factor: number; endMs: number } {
    if (this.#sample !== undefined) {
      const startMs = Math.floor(nowMs / SAMPLE_MS) * SAMPLE_MS;
      const factor = checkNumber(`capacity(${startMs})`, this.#sample(startMs), 0);
      return { factor, endMs: startMs + SAMPLE_MS };
    }
    let factor = 1;
    for (const step of this.#steps) {
      if (step.atMs > nowMs) return { factor, endMs: step.atMs };
      factor = step.factor;
    }
    return { factor, endMs: Number.POSITIVE_INFINITY };
  }
}
