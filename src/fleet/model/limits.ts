import { type ExchangeRequest, MICRO, type SharedConfig } from '../protocol.ts';
import { charge, emptyBucket, resize, restore } from './bucket.ts';
import type { FleetState } from './fleet-state.ts';

/** The newest configuration wins. A limit that stays keeps what its bucket holds. */
export function configure(state: FleetState, config: SharedConfig): void {
  if (JSON.stringify(config) === JSON.stringify(state.config)) return;
  const before = state.config?.limits ?? [];
  const buckets = config.limits.map(({ name, capacity, perHour }) => {
    const kept = state.buckets[before.findIndex((limit) => limit.name === name)];
    if (kept === undefined) return emptyBucket(capacity, perHour);
    resize(kept, capacity, perHour);
    return kept;
  });
  const learned = state.buckets.slice(-2);
  state.buckets = [...buckets, learned[0] ?? emptyBucket(0, 0), learned[1] ?? emptyBucket(0, 0)];
  state.config = config;
  state.epoch += 1;
}

/** Corrects earlier charges: what was not used comes back, and what cost more is charged. */
export function settle(state: FleetState, { settled, returned }: ExchangeRequest): void {
  state.buckets.forEach((bucket, place) => {
    if (bucket.perHour === 0) return;
    const unused = returned[place] ?? 0;
    if (unused > 0) restore(bucket, unused);
    const amount = settled[place] ?? 0;
    if (amount !== 0) charge(bucket, amount);
    // What was granted and not used may be granted again.
    const isLearned = place === state.buckets.length - 2;
    if (isLearned) {
      state.budget += Math.floor(unused / MICRO) + Math.floor(Math.max(0, -amount) / MICRO);
    }
  });
}
