import type { LimiterFact } from '../../src/model/limiter-event.ts';

/** The meaning of each event of a limiter. An event without a line here does not compile. */
export const EVENT_TEXTS: Readonly<Record<LimiterFact['kind'], string>> = {
  waiting:
    '`gate`, `limit`, `position`, `waiting`, `untilAt`: a request begins to wait there, behind so many',
  waited: '`gate`, `waitMs`, `rounds`: a request had to wait there, and goes on',
  limitDenied:
    '`limit`, `cost`, `available`, `retryAfterMs`, `waits`: a request did not fit this rate limit; it waits or has failed',
  rateAdapted:
    '`from`, `to`, `reason`: the rate was measured anew (`rejected`: what was sent, and what is accepted), or has moved by a tenth; requests a second',
  limitAdapted: '`from`, `to`, `reason`: the limit of requests in flight has moved',
  outageStarted:
    '`reason`: the API cannot be reached (`unreachable`) or lets nothing in (`rejected`); single probes go',
  outageEnded: '`reason`: the API can be reached, or lets something in, again',
  suspended:
    '`reason`, `onLongWait`, `requests`, `untilAt`: the API takes nothing for long (`longWait`, `quota`, `billing`), or could not be reached for `outageMs` (`unreachable`). So many requests have failed, or wait until then',
  storeLost: '`error`, `meanwhile`: the store that workers share cannot be reached',
  storeBack: '`awayMs`: it answers again',
  storeForgot:
    'it has lost its data, or nobody has called it for `keepMs`: what was sent before is not known any more',
  sharedLimitsChanged:
    '`epoch`, `limits`: another worker has begun with other limits, which are in force for all now',
  leaseLost: 'this worker was silent for longer than `ttlMs`, and had lost what it held',
  leaderChanged: '`leads`: this worker runs the learning controller of the fleet, or no more',
  modeChanged: '`mode`: `normal`, `throttled` or `outage` from now on',
  decelerated:
    "`from`, `to`, `intervalMs`: failures have lowered the limit (`adaptive: 'failures'`)",
  reaccelerated: '`from`, `to`, `intervalMs`: a step back up',
  coolingStarted: '`untilAt`: the next step back up is not before then',
  ceilingReset: '`from`, `to`: long without a failure: the limit may grow to its maximum again',
  circuitOpened: '`openMs`, `failures`, `reason`: the circuit breaker lets nothing pass',
  circuitHalfOpen: 'it lets a probe pass',
  circuitClosed: 'the probe went well',
  circuitIsolated: '`reason`: `circuit.isolate()` lets nothing pass',
  circuitIsolationEnded: 'the last isolation has ended: the circuit is as its failures have it',
  milestone: '`percent`: as much of the total has ended',
  paused: '`reason`: `pause()` was called: nothing is sent until `resume()`',
  resumed: '`pausedMs`: requests are sent again',
  cleared: '`requests`, `reason`: `clear()` has ended the wait of so many',
  closed: '`close()` was called: no new requests',
  draining: '`inFlight`, `waiting`: requests that came before have not ended yet',
  drained: 'after that the last request has ended',
};
