/** Runs jobs on threads, as many at a time as there are threads. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Answer, Job } from './job.ts';

const THREAD = fileURLToPath(new URL('./thread.js', import.meta.url));

/** The answers, in the order of the jobs. */
export async function runJobs(
  jobs: readonly Job[],
  threads: number,
  onAnswer: (done: number) => void,
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
        onAnswer(++done);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, jobs.length) }, work));
  return answers;
}
