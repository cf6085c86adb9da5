import { createLimiter } from 'headgate';

const limiter = createLimiter({ concurrency: 50, requestsPerMinute: 1 });
const ask = async (prompt: string) => prompt.toUpperCase();

const answers = ['one', 'two', 'three'].map((prompt) => limiter.run(() => ask(prompt)));
console.log(limiter.snapshot().waiting); // 2
limiter.configure({ requestsPerMinute: null, tokensPerMinute: 90_000, adaptive: 'failures' });
console.log((await Promise.all(answers)).join()); // ONE,TWO,THREE
