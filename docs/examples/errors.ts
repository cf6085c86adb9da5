import { CircuitOpenError, createLimiter, HeadgateError } from 'headgate';

const limiter = createLimiter({ circuitBreaker: { consecutiveFailures: 1 }, maxAttempts: 1 });

async function ask(): Promise<string> {
  throw Object.assign(new Error('no such thing'), { status: 500 });
}

for (let n = 0; n < 2; n += 1) {
  try {
    console.log(await limiter.run(ask));
  } catch (error) {
    if (error instanceof CircuitOpenError) console.log('again in', error.retryAfterMs, 'ms');
    else if (error instanceof HeadgateError) console.log('headgate:', error.code);
    else console.log('the API:', String(error)); // the API: Error: no such thing
  }
}
