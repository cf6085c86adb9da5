import { createLimiter } from 'headgate';
import pLimit from 'p-limit';

const work = async (n: number) => n * n;

const limit = pLimit(8); // before
const squares = await Promise.all([1, 2, 3].map((n) => limit(() => work(n))));

const limiter = createLimiter({ concurrency: 8 }); // after
const same = await Promise.all([1, 2, 3].map((n) => limiter.run(() => work(n))));
console.log(squares.join(), same.join()); // 1,4,9 1,4,9
