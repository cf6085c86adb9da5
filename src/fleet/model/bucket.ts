const HOUR = 3_600_000_000;
/**
 * A bucket that is refilled evenly. It may be in debt: amounts charged then are due later. The
 * amount that may be used at once, `max(0, level) + rest`, never exceeds the capacity. So in any
 * interval no more is used than the capacity plus the refill, and the due amounts that workers keep.
 */
export interface Bucket {
  capacity: number;
  perHour: number;
  /** The content, in whole millionths; below 0: a debt. */
  level: number;
  /**
   * While the bucket is in debt: reserved amounts that came back. They may be used at once, and pay
   * no debt: else amounts unused for long would be granted again, on top of later reservations.
   */
  rest: number;
  /** The part of the refill below one millionth, in units of 1 / HOUR of a millionth. */
  carry: number;
  /** The granted amounts that workers have not reported as used. */
  out: number;
  /** The cost of the largest request of late, with the refunds of late. */
  large: number;
}

/** A new bucket is empty: a full one would double the first window. */
export function emptyBucket(capacity: number, perHour: number): Bucket {
  return { capacity, perHour, level: 0, rest: 0, carry: 0, out: 0, large: 0 };
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

/** Once the bucket is out of debt, `rest` becomes a part of its level. */
function merge(bucket: Bucket): void {
  if (bucket.level < 0 || bucket.rest === 0) return;
  bucket.level = Math.max(bucket.level, Math.min(bucket.level + bucket.rest, bucket.capacity));
  bucket.rest = 0;
}

/**
 * @param amount below 0: a refund, which fills the bucket to its capacity at most
 * @param next the cost of the next request: if it exceeds the capacity, a refund may fill the
 * bucket up to it. The next refill cuts the level to the capacity again
 */
export function charge(bucket: Bucket, amount: number, next = 0): void {
  bucket.level = Math.min(bucket.level - amount, Math.max(bucket.capacity, next));
  merge(bucket);
}

/** A granted amount that was not used comes back, and may be used at once. */
export function restore(bucket: Bucket, amount: number): void {
  bucket.rest = Math.min(bucket.rest + amount, bucket.capacity);
  merge(bucket);
}

/** A worker keeps a due amount: the bucket is filled to its capacity with it. */
export function leaveRoom(bucket: Bucket, amount: number): void {
  const most = Math.max(0, bucket.capacity - amount);
  bucket.level = Math.min(bucket.level, most);
  bucket.rest = Math.min(bucket.rest, most);
}

/** The amount that may be used at once. */
export function ready({ level, rest }: Bucket): number {
  return level < 0 ? rest : level;
}

/** Charges an amount that may be used at once. */
export function spend(bucket: Bucket, amount: number): void {
  if (bucket.level < 0) bucket.rest -= amount;
  else bucket.level -= amount;
}

/** The microseconds until this amount is refilled; below 0 for an amount below 0. */
export function flowTime(bucket: Bucket, amount: number): number {
  return Math.ceil((amount * HOUR) / bucket.perHour) + 0;
}

/** The refill in `elapsed` microseconds, divided by `among` workers. */
export function shareOfFlow(bucket: Bucket, elapsed: number, among: number): number {
  return Math.floor((bucket.perHour * elapsed) / HOUR / among);
}

/** Changes the capacity and the rate; a debt stays. */
export function resize(bucket: Bucket, capacity: number, perHour: number): void {
  bucket.capacity = capacity;
  bucket.perHour = perHour;
  bucket.level = Math.min(bucket.level, capacity);
  bucket.rest = Math.min(bucket.rest, capacity);
}
