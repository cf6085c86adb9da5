import { createLimiter, type Limiter } from 'headgate';

const shared = globalThis as typeof globalThis & { openaiLimiter?: Limiter };
shared.openaiLimiter ??= createLimiter({ name: 'openai', requestsPerMinute: 500 });

export const limiter = shared.openaiLimiter;
console.log('the limiter is', limiter.snapshot().state); // the limiter is running
