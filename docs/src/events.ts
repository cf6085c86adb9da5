import type { LimiterFact } from '../../src/model/limiter-event.ts';

/** The meaning of each event of a limiter. An event without a line here does not compile. */
export const EVENT_TEXTS: Readonly<Record<LimiterFact['kind'], string>> = {
  waiting:
    '`gate`, `limit`, `position`, `waiting`, `untilAt`: a request begins to wait at this gate, at this position of the queue',
  waited: '`gate`, `waitMs`, `rounds`: a request had to wait at this gate, and continues',
  limitDenied:
    '`limit`, `cost`, `available`, `retryAfterMs`, `waits`: a request did not fit this rate limit or the `costBudget`; it waits or has failed',
  rateAdapted:
    '`from`, `to`, `reason`: the rate in requests per second was measured anew (`rejected`: from the rate that was sent to the rate that is accepted), or has changed by a tenth',
  rateHeld:
    '`untilAt`: the rate that the API reports, or that was learned, lets no request pass for longer than `maxRetryAfterMs`; requests wait',
  limitAdapted: '`from`, `to`, `reason`: the limit of requests in flight has changed',
  outageStarted:
    '`reason`: the API cannot be reached (`unreachable`) or rejects everything (`rejected`); single probes are sent',
  outageEnded: '`reason`: the API can be reached, or accepts requests, again',
  suspended:
    '`reason`, `onLongWait`, `requests`, `untilAt`: the API accepts nothing for long (`longWait`, `quota`, `billing`), or could not be reached for `outageMs` (`unreachable`). This number of `requests` has failed, or waits until `untilAt`',
  storeLost: '`error`, `meanwhile`: the store that workers share cannot be reached',
  storeBack: '`awayMs`: the store answers again',
  storeForgot:
    'the store has lost its data, or no worker has called it for `keepMs`: earlier requests are not known any more',
  sharedLimitsChanged:
    '`epoch`, `limits`: another worker has started with other limits, which now apply to all workers',
  leaseLost:
    'this worker did not call the store for longer than `ttlMs`, and lost its slots and bytes',
  leaderChanged: '`leads`: whether this worker runs the learning controller of the fleet',
  modeChanged: '`mode`: `normal`, `throttled` or `outage` from now on',
  decelerated:
    "`from`, `to`, `intervalMs`: failures have lowered the limit (`adaptive: 'failures'`)",
  reaccelerated:
    "`from`, `to`, `intervalMs`: the limit was raised by a step (`adaptive: 'failures'`)",
  coolingStarted: '`untilAt`: the limit is not raised before this time',
  ceilingReset:
    '`from`, `to`: after a long time without a failure the limit may grow to its maximum again',
  circuitOpened: '`openMs`, `failures`, `reason`: the circuit breaker lets nothing pass',
  circuitHalfOpen: 'the circuit breaker lets a probe pass',
  circuitClosed: 'the probe succeeded: all requests pass',
  circuitIsolated: '`reason`: `circuit.isolate()` lets nothing pass',
  circuitIsolationEnded:
    'the last isolation has ended: failures alone decide whether the circuit is open',
  milestone: '`percent`: this share of the total has ended',
  paused: '`reason`: `pause()` was called: nothing is sent until `resume()`',
  resumed: '`pausedMs`: requests are sent again',
  cleared: '`requests`, `reason`: `clear()` has ended the wait of this number of requests',
  closed: '`close()` was called: new requests fail',
  draining: '`inFlight`, `waiting`: earlier requests have not ended yet',
  drained: 'after `close()`, the last request has ended',
};
