import { createLimiter } from 'headgate';

const limiter = createLimiter();
let isUp = false;
setTimeout(() => {
  isUp = true;
}, 300);

async function ask(n: number): Promise<number> {
  if (!isUp) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  return n;
}

limiter.events$.subscribe(({ kind }) => {
  if (kind.startsWith('outage')) console.log(kind); // outageStarted, outageEnded
});
console.log(await Promise.all([1, 2, 3, 4].map((n) => limiter.run(() => ask(n))))); // [ 1, 2, 3, 4 ]
