// Rules of BullMQ's own processing, which a worker without a processor leaves to its user.

import type { QueueJob, QueueWorker } from './job-feed.ts';

/** BullMQ does not retry a job that fails with an error of this name. */
class UnrecoverableError extends Error {
  override readonly name = 'UnrecoverableError';
}

/**
 * The error that a job must fail with instead of being sent: a child has failed, or too many
 * workers were lost with the job.
 */
export function refusalOf(
  { deferredFailure, attemptsStarted = 0 }: QueueJob,
  { maxStartedAttempts = 0 }: QueueWorker<unknown>['opts'],
): Error | undefined {
  if (deferredFailure) return new UnrecoverableError(deferredFailure);
  return maxStartedAttempts > 0 && attemptsStarted > maxStartedAttempts
    ? new UnrecoverableError('job started more than allowable limit')
    : undefined;
}

const MOVED: ReadonlySet<unknown> = new Set([
  'DelayedError',
  'WaitingError',
  'WaitingChildrenError',
]);

/** Whether the error says that the job has moved itself to another state. */
export function hasMoved(error: unknown): boolean {
  return error instanceof Error && MOVED.has(error.name);
}

/** Whether the error is BullMQ's `RateLimitError`: the job goes back to the queue. */
export function isRateLimitError(error: unknown): boolean {
  return error instanceof Error && error.message === 'bullmq:rateLimitExceeded';
}
