import { BigValueColorMode } from '@grafana/grafana-foundation-sdk/common';
import { STATE } from '../colours.ts';
import {
  BINDING_WORDS,
  BREAKER_WORDS,
  bindingGate,
  breakerState,
  limitInForce,
  MODE_WORDS,
  modeInForce,
} from '../mappings.ts';
import { LABELS } from '../metrics.ts';
import { figure, type PanelMaker, present } from '../parts.ts';
import { max, orZero, ownOrShared, quotient, rate, series, sum, sumRate } from '../promql.ts';
import { byLevel, levels } from '../styles.ts';
import { byteUse, rateUse } from '../usage.ts';

const LEGEND = `{{${LABELS.name}}}`;

export function bindingNow(): PanelMaker {
  return figure(
    {
      title: 'What binds now',
      description:
        'The gate that requests of each limiter wait for at this moment. Requests in earlier queues wait because this one is full. "Nothing waits": more load would be taken.',
      unit: 'none',
    },
    'no limiter',
    BINDING_WORDS,
  ).withTarget(present(bindingGate(), LEGEND));
}

export function modeNow(): PanelMaker {
  return figure(
    {
      title: 'Mode',
      description:
        'Throttled: the API has said 429 a moment ago, and the limiter sends fewer and smaller loads until that is over. Outage: the API lets nothing in, and single probes find out when it does. Suspended: a quota or credit is used up, or the API asked for a long wait; requests fail at once, or wait.',
      unit: 'none',
    },
    'no limiter',
    MODE_WORDS,
  ).withTarget(present(modeInForce(), LEGEND));
}

export function breakerNow(): PanelMaker {
  return figure(
    {
      title: 'Circuit breaker',
      description:
        'Open: too many attempts in a row failed, and nothing is sent until a probe succeeds. "Off": the limiter has none.',
      unit: 'none',
    },
    'off',
    BREAKER_WORDS,
  ).withTarget(present(breakerState(), LEGEND));
}

/** Up to 1 % of attempts is the price of finding the limit; 5 % for long is an alert. */
export function throttledShare(): PanelMaker {
  const attempts = sumRate([], 'attempts');
  const throttled = sumRate([], 'attempts', { [LABELS.errorType]: '="429"' });
  return figure(
    {
      title: 'Answers that are 429',
      description:
        'Share of attempts that the API turned away with 429. A few show that the limit is used up; over 5 % for long means that a limit of headgate is set higher than the API’s.',
      unit: 'percentunit',
    },
    'nothing sent',
  )
    .colorMode(BigValueColorMode.Value)
    .decimals(1)
    .thresholds(levels([null, STATE.good], [0.01, STATE.fair], [0.05, STATE.bad]))
    .colorScheme(byLevel())
    .withTarget(present(quotient(orZero(throttled, attempts), attempts), '429'));
}

export function fullness(): PanelMaker {
  const active = ownOrShared('sum', series('active'));
  const limit = ownOrShared('max', limitInForce());
  const slots = `${active} / ignoring (${LABELS.mode}) (${limit} > 0)`;
  return figure(
    {
      title: 'How much of the limits is used',
      description:
        'Requests in flight, bytes in flight and the fullest rate limit, each as a share of its limit, where it is fullest: each instance has limits of its own, unless they share them through a store. Near 100 % the limit is what bounds the run. Bytes may go over 100 %: one large request may overdraw.',
      unit: 'percentunit',
    },
    'no limit is set',
  )
    .colorMode(BigValueColorMode.Value)
    .decimals(0)
    .thresholds(levels([null, STATE.good], [0.8, STATE.fair], [1.01, STATE.bad]))
    .colorScheme(byLevel())
    .withTarget(present(max([], slots), 'requests'))
    .withTarget(present(max([], byteUse()), 'bytes'))
    .withTarget(present(max([], rateUse()), 'rates'));
}

const KNOWN_TOTAL = `${series('progressExpected')} > 0`;

/** What is left, over what has ended lately. Instances whose total is not known do not count. */
export function remainingSeconds(): string {
  const left = `clamp_min(${series('progressExpected')} - ${series('progressCompleted')}, 0)`;
  const ended = rate(series('requests', { [LABELS.outcome]: '=~"ok|failed|rejected"' }));
  const counted = `${ended} and on (job, instance, ${LABELS.name}) (${KNOWN_TOTAL})`;
  return quotient(sum([], left), sum([], counted));
}

export function progressShare(): string {
  const completed = `${series('progressCompleted')} and (${KNOWN_TOTAL})`;
  return quotient(sum([], completed), sum([], series('progressExpected')));
}

export function progressNow(): PanelMaker {
  return figure(
    {
      title: 'Progress',
      description:
        'Share of the known total that is done, and the time until the rest is, at the present rate.',
      unit: 'percentunit',
    },
    'total unknown',
  )
    .colorMode(BigValueColorMode.None)
    .decimals(0)
    .overrideByName('left', [{ id: 'unit', value: 'dtdurations' }])
    .withTarget(present(progressShare(), 'done'))
    .withTarget(present(remainingSeconds(), 'left'));
}
