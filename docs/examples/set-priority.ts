import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 1 });
const complete = async (prompt: string) => console.log(prompt);

const all = Promise.all([
  limiter.run(() => complete('the first of the batch')),
  limiter.run(() => complete('the rest of the batch')),
  limiter.run(() => complete('a page that nobody looks at'), { id: 'page 7' }),
]);
console.log(limiter.setPriority('page 7', 10), 'waits'); // somebody opens the page
await all; // first, then the page, then the rest
