import { createLimiter } from 'headgate';

const circuitBreaker = { failureRatio: 0.5, leastRequests: 4, windowMs: 60_000 };
const limiter = createLimiter({ circuitBreaker, maxAttempts: 1 });
const { circuit } = limiter;

for (const n of [1, 2, 3, 4]) {
  await limiter
    .run(async () => {
      if (n % 2 === 0) throw Object.assign(new Error('busy'), { status: 500 });
    })
    .catch(() => {});
}
console.log(circuit?.state); // open

const saved = JSON.stringify(circuit?.export());
const restarted = createLimiter({ circuitBreaker });
restarted.circuit?.restore(JSON.parse(saved));
console.log(restarted.circuit?.state); // open

const isolation = restarted.circuit?.isolate('the provider moves its servers');
console.log(restarted.circuit?.snapshot().reason); // the provider moves its servers
isolation?.end();
