import { defaultProviders, type ProviderAdapter, readProviders, throttle } from 'headgate';
import { of } from 'rxjs';

const gateway: ProviderAdapter = {
  name: 'our gateway',
  marks: ['x-budget-left'],
  limits: (header) => [{ unit: 'requests', remaining: Number(header('x-budget-left')) }],
  verdict: ({ words }) =>
    words.has('budget_spent') ? { kind: 'fatal', outage: 'quota' } : undefined,
};
const { classify, reportedLimits } = readProviders([gateway, ...defaultProviders]);
console.log(reportedLimits({ 'x-budget-left': '7' })); // [ { unit: 'requests', remaining: 7 } ]

const send = async (): Promise<string> => {
  throw Object.assign(new Error('nothing left'), { status: 429, code: 'budget_spent' });
};
of('hello')
  .pipe(throttle(send, { classify, outcomes: true }))
  .subscribe(({ status, stats }) => console.log(status, stats.attempts)); // failed 1
