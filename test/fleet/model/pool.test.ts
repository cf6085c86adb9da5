import { describe, expect, it } from 'vitest';
import {
  type Holding,
  isClaimed,
  lend,
  noHolding,
  type Pool,
} from '../../../src/fleet/model/pool.ts';
import { seededRandom } from '../../../src/simulator/random.ts';

/**
 * Workers that always want more slots, and ask in random order; some of their requests end between.
 */
class GreedyWorkers {
  readonly pool: Pool = { held: 0, claimed: 0, sought: 0 };
  readonly mine: Holding[];
  private readonly kept: number[];
  private readonly wants = new Set<number>();
  /** Rounds in which each held something. */
  readonly served: number[];
  size: number;

  constructor(size: number, workers: number) {
    this.size = size;
    this.mine = Array.from({ length: workers }, noHolding);
    this.kept = this.mine.map(() => 0);
    this.served = this.mine.map(() => 0);
  }

  /** One worker calls. @param ended how many of its requests have ended since its last call */
  call(worker: number, ended: number, wanted = this.size): void {
    const mine = this.mine[worker] as Holding;
    const kept = this.kept[worker] as number;
    // What is in flight stays until it ends; then what is kept goes to the next that waits.
    const held = Math.max(Math.min(mine.held, kept), mine.held - ended);
    if (wanted > 0 || (held > 0 && isClaimed(this.pool, mine))) this.wants.add(worker);
    else this.wants.delete(worker);
    const sharers = Math.max(1, this.wants.size);
    const want = { held, wanted, head: Math.min(1, wanted), spare: 0 };
    const lent = lend(this.pool, mine, want, this.size, sharers, false, false);
    this.kept[worker] = lent.kept;
    if (lent.held > 0) this.served[worker] = (this.served[worker] as number) + 1;
  }

  get held(): number[] {
    return this.mine.map(({ held }) => held);
  }
}

const sum = (values: readonly number[]) => values.reduce((one, other) => one + other, 0);

describe('workers that want more than there is', () => {
  const random = seededRandom(31);
  const below = (bound: number) => Math.floor(random() * bound);

  it('hold all of it, and differ by one at most', () => {
    for (let round = 0; round < 300; round += 1) {
      const workers = 1 + below(20);
      const size = workers + below(60);
      const all = new GreedyWorkers(size, workers);
      for (let call = 0; call < 300 * workers; call += 1) all.call(below(workers), below(3));
      for (let worker = 0; worker < workers; worker += 1) all.call(worker, 0);
      const { held } = all;
      const told = `${size} slots of ${workers} workers: ${held}`;
      expect(sum(held), told).toBe(size);
      expect(Math.max(...held) - Math.min(...held), told).toBeLessThanOrEqual(1);
    }
  });

  it('give back what they hold beyond fewer slots, even if there are more workers', () => {
    for (let round = 0; round < 100; round += 1) {
      const workers = 2 + below(10);
      const all = new GreedyWorkers(workers + below(60), workers);
      for (let call = 0; call < 300 * workers; call += 1) all.call(below(workers), below(3));
      all.size = 1 + below(workers);
      all.served.fill(0);
      for (let call = 0; call < 30 * workers; call += 1) {
        const worker = below(workers);
        all.call(worker, all.held[worker] ?? 0);
      }
      const told = `${all.size} slots of ${workers} workers: ${all.held}`;
      expect(sum(all.held), told).toBeLessThanOrEqual(all.size);
      expect(Math.min(...all.served), told).toBeGreaterThan(0);
    }
  });

  it('take turns where there are fewer slots than workers', () => {
    for (let round = 0; round < 100; round += 1) {
      const size = 1 + below(6);
      const workers = size + 1 + below(10);
      const all = new GreedyWorkers(size, workers);
      for (let call = 0; call < 400 * workers; call += 1) all.call(below(workers), 1);
      expect(Math.min(...all.served), `${size} slots of ${workers} workers`).toBeGreaterThan(0);
      expect(sum(all.held)).toBeLessThanOrEqual(size);
    }
  });

  it('get what one of them does not want', () => {
    const all = new GreedyWorkers(20, 3);
    for (let call = 0; call < 60; call += 1) all.call(call % 3, 1, call % 3 === 0 ? 0 : 20);
    expect(all.held).toEqual([0, 10, 10]);
  });
});
