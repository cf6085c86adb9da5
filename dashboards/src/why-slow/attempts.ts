import { GATE_COLOURS, LIMIT_COLOUR, STATE } from '../colours.ts';
import { attemptsOfSeries } from '../jaeger.ts';
import { LABELS } from '../metrics.ts';
import { type PanelMaker, query, sideLegend, stacked, timeSeries } from '../parts.ts';
import { labelMissing, ownOrShared, QUANTILES, quantile, series, sum, sumRate } from '../promql.ts';
import {
  coloured,
  colouredByError,
  dashed,
  levelLines,
  levels,
  rightAxis,
  shadedByError,
} from '../styles.ts';
import { retryRatio } from './summary.ts';

export function attemptsByError(): PanelMaker {
  const attempts = labelMissing(LABELS.errorType, 'ok', sumRate([LABELS.errorType], 'attempts'));
  return colouredByError(
    stacked({
      title: 'Attempts, by what they ended with',
      description:
        'What the API answered. 429: too much. 503 and 529: it is overloaded. 4xx: the requests are wrong, and no pace will help.',
      unit: 'reqps',
    })
      .dataLinks([attemptsOfSeries()])
      .withTarget(query(attempts, `{{${LABELS.errorType}}}`)),
  );
}

export function retries(): PanelMaker {
  return timeSeries({
    title: 'Retries a request, over time',
    description: 'Attempts beyond the first. The dashed line: half of the load is work done again.',
    unit: 'none',
  })
    .axisSoftMax(0.6)
    .thresholds(levels([null, 'transparent'], [0.5, STATE.bad]))
    .thresholdsStyle(levelLines())
    .noValue('nothing has ended')
    .withTarget(query(retryRatio(), 'retries'));
}

export function backoffLengths(): PanelMaker {
  const panel = timeSeries({
    title: 'Length of backoffs',
    description:
      'How long a 429 closed the gate: as the API asked (retry_after), or as headgate chose because it did not ask (computed).',
    unit: 's',
  }).noValue('no backoff');
  for (const [name, q] of [
    ['p50', 0.5],
    ['p95', 0.95],
  ] as const) {
    const length = quantile(q, [LABELS.source], 'backoffDuration');
    panel.withTarget(query(length, `{{${LABELS.source}}} ${name}`));
  }
  return panel;
}

export function adaptiveRate(): PanelMaker {
  return timeSeries({
    title: 'Adaptive rate',
    description:
      'The rate that may be sent, by its source: your limits, the API’s headers, or what was learned from its 429s; beside it what the API accepted when it last had nothing left. On the right: how often a 429 had the rate measured anew. Often, with targets that differ: the API’s limit changes, or others use it too.',
    unit: 'reqps',
  })
    .legend(sideLegend())
    .noValue('no rate is set or learned')
    .withTarget(
      query(
        `${sum([LABELS.source], ownOrShared('max', series('rateTarget'), [LABELS.source]))} > 0`,
        `{{${LABELS.source}}}`,
      ),
    )
    .withTarget(query(`${sum([], ownOrShared('max', series('rateCeiling')))} > 0`, 'ceiling'))
    .withTarget(query(sumRate([], 'rateCuts'), 'measured anew'))
    .overrideByName('ceiling', dashed(LIMIT_COLOUR))
    .overrideByName('measured anew', rightAxis('cps'));
}

export function attemptDurations(): PanelMaker {
  const panel = timeSeries({
    title: 'Time of an attempt, by what it ended with',
    description:
      'How long the API itself takes, without any wait. Errors that take long are time-outs; errors that come at once cost little.',
    unit: 's',
  })
    .dataLinks([attemptsOfSeries()])
    .legend(sideLegend())
    .noValue('nothing has ended');
  for (const [name, q] of QUANTILES) {
    const time = quantile(q, [LABELS.errorType], 'attemptDuration');
    const named = labelMissing(LABELS.errorType, 'ok', time);
    panel.withTarget(query(named, `{{${LABELS.errorType}}} ${name}`));
  }
  return shadedByError(panel);
}

export function givenUp(): PanelMaker {
  const panel = timeSeries({
    title: 'Given up while they waited, by gate',
    description:
      'Requests that were aborted, timed out, or gave way to others, by what they waited for. That gate is what callers have no patience with.',
    unit: 'reqps',
  })
    .noValue('no limiter')
    .withTarget(query(sumRate([LABELS.gate], 'givenUp'), `{{${LABELS.gate}}}`));
  return coloured(panel, GATE_COLOURS);
}

export function adaptations(): PanelMaker {
  return timeSeries({
    title: 'Adaptations, by reason',
    description:
      'How often the rate or the limit has moved, and why: `rejected` by 429s, `accepted` as more is let in, `headers` as the API tells. Many of both: the limit is near, or others use it too. `all wait`: one decision for all requests, since the API takes nothing for long, or cannot be reached.',
    unit: 'cps',
  })
    .noValue('nothing has adapted')
    .withTarget(
      query(
        sumRate([LABELS.what, LABELS.reason], 'adaptations'),
        `{{${LABELS.what}}} {{${LABELS.reason}}}`,
      ),
    )
    .withTarget(query(sumRate([LABELS.reason], 'suspensions'), `all wait: {{${LABELS.reason}}}`));
}

export function tokens(): PanelMaker {
  return timeSeries({
    title: 'Tokens a second',
    description: 'Tokens, input and output, that answers say they have used.',
    unit: 'short',
  })
    .noValue('no answer tells its usage')
    .withTarget(query(sumRate([], 'tokens'), 'tokens'));
}

export function deniedByLimit(): PanelMaker {
  return timeSeries({
    title: 'Held back or refused, by rate limit',
    description:
      'How often a second each rate limit let the first of the queue wait, or refused a request. Requests behind the first wait with it and are not counted: the waits at `rateLimit` tell how many those were.',
    unit: 'cps',
  })
    .noValue('no rate limit is set')
    .withTarget(query(sumRate([LABELS.limit], 'rateDenied'), `{{${LABELS.limit}}}`));
}

export function errorDurations(): PanelMaker {
  const worst = quantile(0.95, [LABELS.errorType], 'requestDuration');
  return colouredByError(
    timeSeries({
      title: 'Request p95, by how it ended',
      description:
        'Whether the slow requests are those that fail. Errors that take long are time-outs; errors that come at once cost little.',
      unit: 's',
    }).withTarget(query(labelMissing(LABELS.errorType, 'ok', worst), `{{${LABELS.errorType}}}`)),
  );
}

export function limitUse(): PanelMaker {
  const usage = series('rateUsed');
  const limit = ownOrShared('max', series('rateLimit'), [LABELS.limit]);
  return timeSeries({
    title: 'Left of each rate limit',
    description: 'What may still be sent in each limit’s window, in the limit’s own unit.',
    unit: 'short',
  })
    .noValue('no rate limit is set')
    .withTarget(
      query(
        `clamp_min(sum by (${LABELS.limit}) (${limit}) - sum by (${LABELS.limit}) (${usage}), 0)`,
        `{{${LABELS.limit}}}`,
      ),
    );
}
