const HOUR = 3_600_000_000;
/**
 * A bucket that is refilled evenly. It may be in debt: what was charged then is due later. What may go
 * at once, `max(0, level) + rest`, never exceeds the capacity: so no time sees more than the capacity
 * and what flows in meanwhile.
 */
export interface Bucket {
  capacity: number;
  perHour: number;
  /** What it holds, in whole millionths; below 0: the debt. */
  level: number;
  /**
   * While it is in debt: what was reserved and came back. It may go at once, and pays no debt: else
   * what nobody used for a long time would be granted again in full, on top of what others reserved.
   */
  rest: number;
  /** What was refilled beyond `level`, in parts of a millionth that an hour has. */
  carry: number;
}

/** A new bucket is empty: a full one would double the first window. */
export function emptyBucket(capacity: number, perHour: number): Bucket {
  return { capacity, perHour, level: 0, rest: 0, carry: 0 };
}

/** @param elapsed microseconds */
export function refill(bucket: Bucket, elapsed: number): void {
  const flow = elapsed * bucket.perHour + bucket.carry;
  const whole = Math.floor(flow / HOUR);
  const level = bucket.level + whole;
  if (level >= bucket.capacity) {
    bucket.level = bucket.capacity;
    bucket.carry = 0;
  } else {
    bucket.level = level;
    bucket.carry = flow - whole * HOUR;
  }
  merge(bucket);
}

/** Out of debt, what came back is a part of what it holds. */
function merge(bucket: Bucket): void {
  if (bucket.level < 0 || bucket.rest === 0) return;
  bucket.level = Math.max(bucket.level, Math.min(bucket.level + bucket.rest, bucket.capacity));
  bucket.rest = 0;
}

/**
 * @param amount below 0: it comes back, and fills the bucket to its capacity at most
 * @param next what the next request costs: if it is more, so much may be there for it. What is not used
 * of it at once is lost
 */
export function charge(bucket: Bucket, amount: number, next = 0): void {
  bucket.level = Math.min(bucket.level - amount, Math.max(bucket.capacity, next));
  merge(bucket);
}

/** What was granted and not used comes back, and may go at once. */
export function restore(bucket: Bucket, amount: number): void {
  bucket.rest = Math.min(bucket.rest + amount, bucket.capacity);
  merge(bucket);
}

/** What may go at once. */
export function ready({ level, rest }: Bucket): number {
  return level < 0 ? rest : level;
}

/** Charges what may go at once. */
export function spend(bucket: Bucket, amount: number): void {
  if (bucket.level < 0) bucket.rest -= amount;
  else bucket.level -= amount;
}

/** The microseconds until so much has flowed in; below 0 for an amount below 0. */
export function flowTime(bucket: Bucket, amount: number): number {
  return Math.ceil((amount * HOUR) / bucket.perHour) + 0;
}

/** What flows into it in a time, divided among so many. */
export function shareOfFlow(bucket: Bucket, elapsed: number, among: number): number {
  return Math.floor((bucket.perHour * elapsed) / HOUR / among);
}

/** Other sizes from now on; the debt stays. */
export function resize(bucket: Bucket, capacity: number, perHour: number): void {
  bucket.capacity = capacity;
  bucket.perHour = perHour;
  bucket.level = Math.min(bucket.level, capacity);
  bucket.rest = Math.min(bucket.rest, capacity);
}
