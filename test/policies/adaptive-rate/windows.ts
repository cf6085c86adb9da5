/** A provider's limit: lets a request in, or not. */
export interface Window {
  take(now: number, cost?: number): boolean;
  /** What is left of it. */
  left(now: number): number;
  /** Until nothing is used any more. */
  resetMs(now: number): number;
}

export function bucket(perSecond: number, size: number): Window {
  let level = size;
  let filledAt = 0;
  const left = (now: number) => {
    level = Math.min(size, level + (perSecond / 1_000) * (now - filledAt));
    filledAt = now;
    return level;
  };
  return {
    left,
    take: (now, cost = 1) => {
      if (left(now) < cost) return false;
      level -= cost;
      return true;
    },
    resetMs: (now) => (size - left(now)) / (perSecond / 1_000),
  };
}

export function fixed(limit: number, windowMs: number): Window {
  let used = 0;
  let number = 0;
  const left = (now: number) => {
    if (Math.floor(now / windowMs) !== number) used = 0;
    number = Math.floor(now / windowMs);
    return limit - used;
  };
  return {
    left,
    take: (now, cost = 1) => {
      if (left(now) < cost) return false;
      used += cost;
      return true;
    },
    resetMs: (now) => windowMs - (now % windowMs),
  };
}

export function sliding(limit: number, windowMs: number): Window {
  const taken: { readonly at: number; readonly cost: number }[] = [];
  const left = (now: number) => {
    while (taken[0] !== undefined && taken[0].at <= now - windowMs) taken.shift();
    return limit - taken.reduce((sum, { cost }) => sum + cost, 0);
  };
  return {
    left,
    take: (now, cost = 1) => {
      if (left(now) < cost) return false;
      taken.push({ at: now, cost });
      return true;
    },
    resetMs: (now) => (taken.at(-1)?.at ?? now - windowMs) + windowMs - now,
  };
}
