import { describe, expect, it } from 'vitest';
import { classify } from '../../src/providers/classify.ts';

describe('Tinker', () => {
  it('says nothing with 429, and asks again or anew for futures', () => {
    const throttled = { kind: 'throttled', retry: true, status: 429, headers: {} };
    expect(classify({ status: 429, error: { error: 'x', category: 'server' } })).toEqual(throttled);
    const again = { kind: 'failed', retry: true };
    const asked = classify({ status: 408, body: '{"type":"try_again","queue_state":"active"}' });
    expect(asked).toMatchObject(again);
    expect(asked.timedOut).toBeUndefined();
    expect(classify({ status: 410, body: { error: 'expired', category: 'user' } })).toMatchObject(
      again,
    );
    expect(classify({ status: 410 })).toMatchObject({ kind: 'fatal', retry: false });
    expect(classify({ status: 400, body: { category: 'user' } })).toMatchObject({ kind: 'fatal' });
  });
});
