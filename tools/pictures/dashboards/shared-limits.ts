/** The limits that all workers of the key share. */
export const SHARED_LIMITS = {
  concurrency: 16,
  limits: { requests: { limit: 200, windowMs: 20_000 } },
};
