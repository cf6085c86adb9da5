import { createLimiter, QueueClearedError } from 'headgate';

const limiter = createLimiter({ concurrency: 4 });
const ask = async (prompt: string) => prompt.toUpperCase();

limiter.pause('deploying');
const [early, late] = [limiter.run(() => ask('early')), limiter.run(() => ask('late'))];
const { state, paused, binding, waiting } = limiter.snapshot();
console.log(state, paused?.reason, binding, waiting); // paused deploying paused 2
limiter.resume();
console.log(await early, await late); // EARLY LATE

limiter.pause();
const dropped = limiter.run(() => ask('dropped'));
limiter.clear('the user has gone');
await dropped.catch((error: unknown) => {
  if (error instanceof QueueClearedError) console.log(error.reason); // the user has gone
});
limiter.resume();

limiter.close({ waiting: 'reject' });
await limiter.drain();
