import { BigValueColorMode } from '@grafana/grafana-foundation-sdk/common';
import type { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { STATE } from '../colours.ts';
import { BINDING_WORDS, bindingGate } from '../mappings.ts';
import { LABELS } from '../metrics.ts';
import { byLevel, figure, type Heading, levels, type PanelMaker, present } from '../parts.ts';
import { quantile, quotient, series, sumRate, WINDOW } from '../promql.ts';

const ENDED = { [LABELS.outcome]: '=~"ok|failed"' };

/** Attempts beyond the first, for each request that was sent and has ended. */
export function retryRatio(): string {
  const ended = sumRate([], 'requests', ENDED);
  return `clamp_min(${quotient(sumRate([], 'attempts'), ended)} - 1, 0)`;
}

/** A figure in the colour of its level. */
function rated(heading: Heading): PanelBuilder {
  return figure(heading)
    .colorMode(BigValueColorMode.Value)
    .colorScheme(byLevel())
    .noValue('nothing yet');
}

export function binding(): PanelMaker {
  return figure({
    title: 'It waits for',
    description: 'The gate that binds at this moment: later gates make earlier queues wait.',
    unit: 'none',
  })
    .mappings(BINDING_WORDS)
    .noValue('no limiter')
    .withTarget(present(bindingGate(), `{{${LABELS.name}}}`));
}

export function slowestRequests(): PanelMaker {
  return figure({
    title: 'Request, p95',
    description: 'One request in twenty took longer, from its arrival until it had ended.',
    unit: 's',
  })
    .colorMode(BigValueColorMode.None)
    .noValue('nothing yet')
    .withTarget(present(quantile(0.95, [], 'requestDuration'), 'p95'));
}

/** Above a half, more time goes into waiting than into the API. */
export function waitingShare(): PanelMaker {
  const waited = sumRate([], 'waitDuration', {}, 'sum');
  const all = sumRate([], 'requestDuration', {}, 'sum');
  return rated({
    title: 'Time that went into waiting',
    description:
      'Share of the requests’ time that they spent at gates; the rest is the API’s. High is normal for a batch that is given all at once; for single requests it means that a limit is too low.',
    unit: 'percentunit',
  })
    .max(1)
    .decimals(0)
    .thresholds(levels([null, STATE.good], [0.5, STATE.fair], [0.9, STATE.bad]))
    .withTarget(present(`clamp_max(${quotient(waited, all)}, 1)`, 'waiting'));
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
  const closed = `max(avg_over_time(${series('backoffActive')}[${WINDOW}]))`;
  return rated({
    title: 'Closed by backoff',
    description: 'Share of the time in which a 429 kept everything back.',
    unit: 'percentunit',
  })
    .decimals(0)
    .thresholds(levels([null, STATE.good], [0.1, STATE.fair], [0.5, STATE.bad]))
    .withTarget(present(closed, 'closed'));
}

/** Far from 1 either way, the byte budget counts something else than what is sent. */
export function estimateNow(): PanelMaker {
  return figure({
    title: 'Estimated / actual size',
    description:
      'Median of estimated size over actual size. Below 1 the byte budget lets too much through, above 1 it holds too much back: give a better `estimate`.',
    unit: 'none',
  })
    .colorMode(BigValueColorMode.Value)
    .decimals(2)
    .colorScheme(byLevel())
    .thresholds(
      levels(
        [null, STATE.bad],
        [0.5, STATE.fair],
        [0.8, STATE.good],
        [1.25, STATE.fair],
        [2, STATE.bad],
      ),
    )
    .noValue('no size known')
    .withTarget(present(quantile(0.5, [], 'estimateRatio'), 'median'));
}
