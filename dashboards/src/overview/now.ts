import { BigValueColorMode } from '@grafana/grafana-foundation-sdk/common';
import { STATE } from '../colours.ts';
import {
  BINDING_WORDS,
  BREAKER_WORDS,
  bindingGate,
  breakerState,
  concurrencyLimit,
  MODE_WORDS,
  modeInForce,
} from '../mappings.ts';
import { LABELS } from '../metrics.ts';
import { byLevel, figure, levels, type PanelMaker, present } from '../parts.ts';
import { orZero, quotient, series, sum, sumRate } from '../promql.ts';

const LEGEND = `{{${LABELS.name}}}`;

export function bindingNow(): PanelMaker {
  return figure({
    title: 'What binds now',
    description:
      'The gate that requests of each limiter wait for at this moment. Requests in earlier queues wait because this one is full. "Nothing waits": more load would be taken.',
    unit: 'none',
  })
    .mappings(BINDING_WORDS)
    .noValue('no limiter')
    .withTarget(present(bindingGate(), LEGEND));
}

export function modeNow(): PanelMaker {
  return figure({
    title: 'Mode',
    description:
      'Throttled: the API has said 429 a moment ago, and the limiter sends fewer and smaller loads until that is over. Outage: the API lets nothing in, and single probes find out when it does.',
    unit: 'none',
  })
    .mappings(MODE_WORDS)
    .noValue('no limiter')
    .withTarget(present(modeInForce(), LEGEND));
}

export function breakerNow(): PanelMaker {
  return figure({
    title: 'Circuit breaker',
    description:
      'Open: too many attempts in a row failed, and nothing is sent until a probe succeeds. "Off": the limiter has none.',
    unit: 'none',
  })
    .mappings(BREAKER_WORDS)
    .noValue('off')
    .withTarget(present(breakerState(), LEGEND));
}

/** Up to 1 % of attempts is the price of finding the limit; 5 % for long is an alert. */
export function throttledShare(): PanelMaker {
  const attempts = sumRate([], 'attempts');
  const throttled = sumRate([], 'attempts', { [LABELS.errorType]: '="429"' });
  return figure({
    title: 'Answers that are 429',
    description:
      'Share of attempts that the API turned away with 429. A few show that the limit is used up; over 5 % for long means that a limit of headgate is set higher than the API’s.',
    unit: 'percentunit',
  })
    .colorMode(BigValueColorMode.Value)
    .decimals(1)
    .thresholds(levels([null, STATE.good], [0.01, STATE.fair], [0.05, STATE.bad]))
    .colorScheme(byLevel())
    .noValue('nothing sent')
    .withTarget(present(quotient(orZero(throttled, attempts), attempts), '429'));
}

export function fullness(): PanelMaker {
  const byName = [LABELS.name];
  const byLimit = [LABELS.name, LABELS.limit];
  const use = (by: readonly string[], usage: string, limit: string) =>
    `max(${quotient(sum(by, usage), sum(by, limit))})`;
  const slots = `max(${quotient(sum(byName, series('active')), concurrencyLimit())})`;
  const bytes = use(byName, series('bytesUsed'), series('bytesLimit'));
  const rates = use(byLimit, series('rateUsed'), series('rateLimit'));
  return figure({
    title: 'How much of the limits is used',
    description:
      'Requests in flight, bytes in flight and the fullest rate limit, each as a share of its limit. Near 100 % the limit is what bounds the run. Bytes may go over 100 %: one large request may overdraw.',
    unit: 'percentunit',
  })
    .colorMode(BigValueColorMode.Value)
    .decimals(0)
    .thresholds(levels([null, STATE.good], [0.8, STATE.fair], [1.01, STATE.bad]))
    .colorScheme(byLevel())
    .withTarget(present(slots, 'requests'))
    .withTarget(present(bytes, 'bytes'))
    .withTarget(present(rates, 'rates'));
}

/** What is left, over what has ended lately. */
export function remainingSeconds(): string {
  const left = `sum(${series('progressExpected')}) - sum(${series('progressCompleted')})`;
  const ended = sumRate([], 'requests', { [LABELS.outcome]: '=~"ok|failed|rejected"' });
  return `clamp_min(${left}, 0) / (${ended} > 0)`;
}

export function progressShare(): string {
  const total = `sum(${series('progressExpected')})`;
  return quotient(`sum(${series('progressCompleted')})`, total);
}

export function progressNow(): PanelMaker {
  return figure({
    title: 'Progress',
    description:
      'Share of the known total that is done, and the time until the rest is, at the present rate.',
    unit: 'percentunit',
  })
    .colorMode(BigValueColorMode.None)
    .decimals(0)
    .noValue('total unknown')
    .overrideByName('left', [{ id: 'unit', value: 'dtdurations' }])
    .withTarget(present(progressShare(), 'done'))
    .withTarget(present(remainingSeconds(), 'left'));
}
