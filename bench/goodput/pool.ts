/** Runs jobs on a pool of threads. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Answer, GeneratedJob, Job } from './job.ts';

const THREAD = fileURLToPath(new URL('./thread.js', import.meta.url));

/** Returns the results in the order of the jobs. Shows the progress if the output is a terminal. */
export async function runJobs(
  jobs: readonly (Job | GeneratedJob)[],
  threads: number,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  let done = 0;
  const work = async () => {
    const worker = new Worker(THREAD);
    try {
      for (let index = next++; index < jobs.length; index = next++) {
        worker.postMessage(jobs[index]);
        const [answer]: Answer[] = await once(worker, 'message');
        if (answer !== undefined) answers[index] = answer;
        done += 1;
        if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${jobs.length} runs`);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, jobs.length) }, work));
  return answers;
}
