/**
 * Runs one job in a fresh process. Gets the `Job` as JSON in its only argument, and prints the
 * `Measured` as one line of JSON.
 */

import type { Job, Measured } from './job.ts';

const job: Job = JSON.parse(process.argv[2] ?? '');
// Report a lost task: Node would exit silently when nothing is left to wait for.
process.once('beforeExit', () => {
  throw new Error('the client went idle before its last task had ended');
});
const measured: Measured = { perTask: await measure(job) };
// Exit here: the figure is taken, and a client may have left a timer running.
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0));

/** Imports measures on demand, so that a process loads only the client that it measures. */
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
