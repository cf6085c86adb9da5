import { createLimiter, DeadlineExceededError } from 'headgate';

const limiter = createLimiter({ deadlineMs: 1_500 }); // without it, the call goes on for ever
limiter.events$.subscribe(({ kind, level, at, ...facts }) => {
  if (level === 'warn') console.log(kind, JSON.stringify(facts));
});

try {
  await limiter.run(async () => new Response('slow down', { status: 429 }));
} catch (error) {
  // outageStarted {"reason":"rejected"}, then: backoff 429
  if (!(error instanceof DeadlineExceededError)) throw error;
  console.log(error.where, error.cause instanceof Response && error.cause.status);
}
