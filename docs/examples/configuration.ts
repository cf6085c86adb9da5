import {
  createLimiter,
  limiterOptionsFromEnv,
  limiterOptionsFromJSON,
  mergeLimiterOptions,
} from 'headgate';

const file = '{ "concurrency": 8, "pace": { "intervalMs": 50 } }';
const env = { HEADGATE_CONCURRENCY: '16', HEADGATE_PACE_JITTER: '0' };
const options = mergeLimiterOptions(
  { maxQueue: 1_000 },
  limiterOptionsFromJSON(file),
  limiterOptionsFromEnv('HEADGATE', env), // the environment of the process, without a second argument
);
const { concurrency, pace } = createLimiter(options).snapshot();
console.log(concurrency.limit, pace?.intervalMs); // 8 50

try {
  limiterOptionsFromJSON('{ "concurency": 8 }');
} catch (error) {
  console.log(String(error)); // TypeError: `concurency` is no option …; did you mean `concurrency`?
}
