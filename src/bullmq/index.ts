/** Jobs of a BullMQ queue through a limiter: `headgate/bullmq`. */

export type { QueueJob, QueueWorker } from './job-feed.ts';
export { JobLockLostError } from './job-locks.ts';
export { type ProcessQueueOptions, processQueue, type QueueProcessing } from './process-queue.ts';
export type { FailedJob, QueueRunCounts, SendJob } from './queue-run.ts';
