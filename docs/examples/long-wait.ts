import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 1 });
limiter.events$.subscribe((event) => {
  if (event.kind === 'suspended') console.log(event.reason, event.requests); // longWait 2
});

async function ask(): Promise<string> {
  throw Object.assign(new Error('daily limit'), {
    status: 429,
    headers: { 'retry-after': '7200' },
  });
}

const results = await Promise.allSettled([1, 2, 3].map(() => limiter.run(ask)));
for (const result of results) {
  if (result.status === 'rejected') console.log(result.reason.code); // RETRY_AFTER_TOO_LONG
}
console.log(limiter.snapshot().suspended?.reason); // longWait
