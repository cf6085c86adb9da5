import { describe, expect, it } from 'vitest';
import type { PolicyEvent } from '../../src/model/policy-events.ts';
import { ChangeCounts } from '../../src/telemetry/change-counts.ts';

function counted() {
  const changes = new ChangeCounts({ name: 'mine' });
  /** The values of one metric, by their attributes without the name. */
  const of = (metric: string) => {
    const values: Record<string, number> = {};
    changes.observe((key, value, attributes) => {
      const { name, ...others } = attributes;
      expect(name).toBe('mine');
      if (key === metric) values[Object.values(others).join(' ')] = value;
    });
    return values;
  };
  return { changes, of };
}

const denied = (limit: string): PolicyEvent => ({
  kind: 'limitDenied',
  at: 0,
  limit,
  cost: 1,
  available: 0,
  retryAfterMs: 1,
  waits: true,
});
const adapted = (reason: 'rejected' | 'accepted'): PolicyEvent => ({
  kind: 'rateAdapted',
  at: 0,
  reason,
  from: 2,
  to: 1,
});

describe('the counters of changes', () => {
  it('count the reasons of suspensions, from 0', () => {
    const { changes, of } = counted();
    const event = {
      kind: 'suspended',
      at: 0,
      onLongWait: 'fail',
      requests: 1,
      untilAt: 9,
    } as const;
    changes.changed({ ...event, reason: 'quota' });
    expect(of('suspensions')).toEqual({ longWait: 0, quota: 1, billing: 0, unreachable: 0 });
  });

  it('count denials by limit, from 0 where the limit is present', () => {
    const { changes, of } = counted();
    expect(of('rateDenied')).toEqual({});
    changes.begin({ rateLimit: { requests: 1, tokens: 1 } });
    changes.changed(denied('tokens'));
    changes.begin({ rateLimit: { requests: 1, tokens: 1 } });
    expect(of('rateDenied')).toEqual({ requests: 0, tokens: 1 });
  });

  it('count a cut of the rate as an adaptation, too', () => {
    const { changes, of } = counted();
    changes.begin({ rateCeiling: 0 });
    expect(of('adaptations')).toEqual({ 'rate rejected': 0, 'rate accepted': 0 });
    changes.changed(adapted('accepted'));
    changes.changed(adapted('rejected'));
    expect(of('adaptations')).toEqual({ 'rate rejected': 1, 'rate accepted': 1 });
    expect(of('rateCuts')).toEqual({ '': 1 });
  });

  it('count calls of the store only where there is one', () => {
    const { changes, of } = counted();
    expect(of('storeCalls')).toEqual({});
    changes.storeCalled(true);
    changes.storeCalled(false);
    changes.storeCalled(true);
    expect(of('storeCalls')).toEqual({ ok: 2, failed: 1 });
  });
});
