import { throttle } from 'headgate';
import { from } from 'rxjs';

type Job = { prompt: string; images: number };
const jobs: Job[] = [1, 2, 3, 4, 5].map((n) => ({ prompt: `job ${n}`, images: n % 2 }));
const startedAt = Date.now();

from(jobs)
  .pipe(
    throttle(async ({ prompt }: Job) => prompt, {
      limits: {
        requests: { limit: 2, windowMs: 200 },
        images: { limit: 100, windowMs: 86_400_000, algorithm: 'fixed-window' },
      },
      costs: ({ images }) => ({ images }),
    }),
  )
  .subscribe((prompt) => {
    console.log(prompt, `${Math.floor((Date.now() - startedAt) / 200)}`); // job 5 2: two a window
  });
