import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 4 });
const complete = async (prompt: string) => console.log(prompt);

await Promise.all([
  limiter.run(() => complete('a page'), { timeoutMs: 60_000 }),
  limiter.run(() => complete('a book'), { weight: 4 }),
  limiter.run(() => complete('another page')),
]); // a page, a book, another page
