const HOUR = 3_600_000_000;
/** What comes back fills a bucket up to so many times its capacity. */
const RETURNED = 10;

/** A bucket that is refilled evenly. It may be in debt: what was charged then is due later. */
export interface Bucket {
  capacity: number;
  perHour: number;
  /** What it holds, in whole millionths; below 0: the debt. */
  level: number;
  /** What was refilled beyond `level`, in parts of a millionth that an hour has. */
  carry: number;
}

/** A new bucket is empty: a full one would double the first window. */
export function emptyBucket(capacity: number, perHour: number): Bucket {
  return { capacity, perHour, level: 0, carry: 0 };
}

/** @param elapsed microseconds */
export function refill(bucket: Bucket, elapsed: number): void {
  const flow = elapsed * bucket.perHour + bucket.carry;
  const whole = Math.floor(flow / HOUR);
  const level = bucket.level + whole;
  if (level >= bucket.capacity) {
    bucket.level = Math.max(bucket.level, bucket.capacity);
    bucket.carry = 0;
  } else {
    bucket.level = level;
    bucket.carry = flow - whole * HOUR;
  }
}

/**
 * @param amount below 0: it comes back. That may fill the bucket beyond its capacity: what was not
 * used of an estimate would else be lost to everybody
 */
export function charge(bucket: Bucket, amount: number): void {
  const level = bucket.level - amount;
  bucket.level =
    amount > 0 ? level : Math.min(level, Math.max(bucket.level, RETURNED * bucket.capacity));
}

/** What was granted and not used comes back, as if it had stayed there. */
export function restore(bucket: Bucket, amount: number): void {
  bucket.level = Math.min(bucket.level + amount, Math.max(bucket.level, bucket.capacity));
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
}
