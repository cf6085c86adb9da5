/**
 * One measure in one fresh process. Takes a `Job` as JSON in its only argument and prints its
 * `Measured` as one line of JSON.
 */

import type { Job, Measured } from './job.ts';

const job: Job = JSON.parse(process.argv[2] ?? '');
// Node would end without a word when a client has lost a task and nothing is left to wait for.
process.once('beforeExit', () => {
  throw new Error('the client went idle before its last task had ended');
});
const measured: Measured = { perTask: await measure(job) };
// A client may leave a timer behind; the figure is taken, so nothing is left to wait for.
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0));

/** Imported on demand, so that a process loads the one client that it measures. */
async function measure(job: Job): Promise<number> {
  switch (job.measure) {
    case 'time':
      return (await import('./measures/time.ts')).time(job);
    case 'memory':
      return (await import('./measures/memory.ts')).memory(job);
    case 'keys':
      return (await import('./measures/keys.ts')).keys(job);
    case 'http':
      return (await import('./measures/http.ts')).http(job);
    case 'span':
      return (await import('./measures/span.ts')).span(job);
    case 'records':
      return (await import('./measures/records.ts')).records(job);
    case 'waiters':
      return (await import('./measures/waiters.ts')).waiters(job);
  }
}
