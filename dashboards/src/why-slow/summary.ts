import { BigValueColorMode } from '@grafana/grafana-foundation-sdk/common';
import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { STATE } from '../colours.ts';
import { BINDING_WORDS, bindingGate } from '../mappings.ts';
import { LABELS } from '../metrics.ts';
import { figure, type Heading, type PanelMaker, present } from '../parts.ts';
import { max, meanOf, quantile, quotient, series, sum, sumRate } from '../promql.ts';
import { byLevel, levels } from '../styles.ts';

const ENDED = { [LABELS.outcome]: '=~"ok|failed"' };

/** An abandoned attempt is the last of a request that is not among the ended ones. */
const ANSWERED = { [LABELS.errorType]: '!~"cancelled|reclaimed"' };

/** Attempts beyond the first, for each request that was sent and has ended. */
export function retryRatio(): string {
  const ended = sumRate([], 'requests', ENDED);
  return `clamp_min(${quotient(sumRate([], 'attempts', ANSWERED), ended)} - 1, 0)`;
}

/** A figure in the colour of its level. */
function rated(heading: Heading, nothing = 'nothing yet'): PanelBuilder {
  return figure(heading, nothing).colorMode(BigValueColorMode.Value).colorScheme(byLevel());
}

export function binding(): PanelMaker {
  return figure(
    {
      title: 'It waits for',
      description: 'The gate that binds at this moment: later gates make earlier queues wait.',
      unit: 'none',
    },
    'no limiter',
    BINDING_WORDS,
  ).withTarget(present(bindingGate(), `{{${LABELS.name}}}`));
}

export function slowestRequests(): PanelMaker {
  return figure(
    {
      title: 'Request, p95',
      description: 'One request in twenty took longer, from its arrival until it had ended.',
      unit: 's',
    },
    'nothing yet',
  )
    .colorMode(BigValueColorMode.None)
    .withTarget(present(quantile(0.95, [], 'requestDuration'), 'p95'));
}

/** Above a half, more time goes into waiting than into the API. */
export function waitingShare(): PanelMaker {
  const waiting = sum([], meanOf(series('queued')));
  const attempting = sum([], meanOf(series('active')));
  return rated({
    title: 'Time that went into waiting',
    description:
      'Share of the requests that are not with the API but wait at gates, and so of their time. High is normal for a batch that is given all at once; for single requests it means that a limit is too low.',
    unit: 'percentunit',
  })
    .max(1)
    .decimals(0)
    .thresholds(levels([null, STATE.good], [0.5, STATE.fair], [0.9, STATE.bad]))
    .withTarget(present(quotient(waiting, `(${waiting} + ${attempting})`), 'waiting'));
}

/** One retry for ten requests is the price of finding the limit; one for two is a waste. */
export function retriesNow(): PanelMaker {
  return rated({
    title: 'Retries a request',
    description:
      'Attempts beyond the first. Over 0.5, half of the load on the API is work done again.',
    unit: 'none',
  })
    .decimals(2)
    .thresholds(levels([null, STATE.good], [0.1, STATE.fair], [0.5, STATE.bad]))
    .withTarget(present(retryRatio(), 'retries'));
}

export function closedShare(): PanelMaker {
  const closed = max([], meanOf(series('backoffActive')));
  return rated({
    title: 'Closed by backoff',
    description: 'Share of the time in which a 429 kept everything back.',
    unit: 'percentunit',
  })
    .decimals(0)
    .thresholds(levels([null, STATE.good], [0.1, STATE.fair], [0.5, STATE.bad]))
    .withTarget(present(closed, 'closed'));
}

/** Far from 1 either way, the limits on a unit count something else than what is sent. */
export function estimateNow(): PanelMaker {
  return rated(
    {
      title: 'Estimated / actual size',
      description:
        'Median of estimated size over actual size, in bytes and in tokens. Below 1 the limits on that unit let too much through, above 1 they hold too much back: give a better `estimate`.',
      unit: 'none',
    },
    'no size known',
  )
    .decimals(2)
    .thresholds(
      levels(
        [null, STATE.bad],
        [0.5, STATE.fair],
        [0.8, STATE.good],
        [1.25, STATE.fair],
        [2, STATE.bad],
      ),
    )
    .withTarget(present(quantile(0.5, [LABELS.unit], 'estimateRatio'), `{{${LABELS.unit}}}`));
}
