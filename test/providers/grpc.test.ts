import { describe, expect, it } from 'vitest';
import { classify } from '../../src/providers/classify.ts';
import { retryDelayMs } from '../../src/providers/grpc.ts';

/** What `@grpc/grpc-js` hands out: values are lists, of bytes where the name ends in `-bin`. */
function metadata(values: Record<string, unknown> = {}) {
  return { get: (name: string) => (name in values ? [values[name]] : []) };
}

function serviceError(code: number, values?: Record<string, unknown>) {
  return Object.assign(new Error(`${code} x`), { code, details: 'x', metadata: metadata(values) });
}

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const bytes = (field: number, content: readonly number[]) => [
  field * 8 + 2,
  ...varint(content.length),
  ...content,
];
const text = (field: number, content: string) => bytes(field, [...Buffer.from(content)]);
const any = (type: string, content: readonly number[]) =>
  bytes(3, [...text(1, `type.googleapis.com/google.rpc.${type}`), ...bytes(2, content)]);

/** A google.rpc.Status with a RetryInfo among its details. */
function status(seconds: number, nanos: number): Uint8Array {
  const duration = [8, ...varint(seconds), 16, ...varint(nanos)];
  return Uint8Array.from([
    ...[8, 8],
    ...text(2, 'exhausted'),
    ...any('Help', [1, 2]),
    ...any('RetryInfo', bytes(1, duration)),
  ]);
}

describe('gRPC', () => {
  it.each([
    [1, 'failed', false],
    [3, 'fatal', false],
    [4, 'failed', true],
    [5, 'fatal', false],
    [7, 'fatal', false],
    [8, 'throttled', true],
    [10, 'failed', true],
    [13, 'failed', true],
    [14, 'overloaded', true],
    [16, 'fatal', false],
  ])('code %i is %s', (code, kind, retry) => {
    expect(classify(serviceError(code))).toMatchObject({ kind, retry });
    expect(classify({ cause: serviceError(code) })).toMatchObject({ kind, retry });
  });

  it('7 and 16 are outages', () => {
    for (const code of [7, 16]) {
      expect(classify(serviceError(code)).outage).toBe('authorisation');
    }
  });

  it('is known by its shape, not by a number alone', () => {
    const unknown = { kind: 'failed', retry: false };
    expect(classify({ code: 8 })).toEqual(unknown);
    expect(classify({ code: 8, message: 'x', name: 'x' })).toEqual(unknown);
    expect(classify({ code: 99, details: 'x', metadata: metadata() })).toEqual(unknown);
    expect(classify({ code: 8, details: 'x' })).toMatchObject({ kind: 'throttled' });
  });

  it('leaves to its status what has one', () => {
    expect(classify({ ...serviceError(8), status: 503 })).toMatchObject({ kind: 'overloaded' });
  });

  it('waits as RetryInfo says', () => {
    const thrown = serviceError(8, { 'grpc-status-details-bin': status(22, 500_000_000) });
    expect(classify(thrown)).toMatchObject({ kind: 'throttled', retryAfterMs: 22_500 });
    const decoded = { ...serviceError(8), statusDetails: [{ retryDelay: { seconds: '7' } }] };
    expect(classify(decoded)).toMatchObject({ kind: 'throttled', retryAfterMs: 7000 });
    const long = { toNumber: () => 9 };
    const asLong = { ...serviceError(8), statusDetails: [{ retryDelay: { seconds: long } }] };
    expect(classify(asLong)).toMatchObject({ kind: 'throttled', retryAfterMs: 9000 });
  });

  it('waits as the server pushes back, or gives up', () => {
    const pushed = (ms: string) => classify(serviceError(8, { 'grpc-retry-pushback-ms': ms }));
    expect(pushed('250')).toMatchObject({ kind: 'throttled', retry: true, retryAfterMs: 250 });
    expect(pushed('-1')).toMatchObject({ kind: 'throttled', retry: false });
  });
});

describe('the details of a status', () => {
  it('hold a delay, or none', () => {
    expect(retryDelayMs(status(0, 1_000_000))).toBe(1);
    expect(retryDelayMs(status(300, 0))).toBe(300_000);
    expect(retryDelayMs(Uint8Array.from(any('Help', [])))).toBeUndefined();
    for (const none of [undefined, null, 'x', [], new Uint8Array(), new Uint8Array(99_999)]) {
      expect(retryDelayMs(none)).toBeUndefined();
    }
  });

  it('that are cut or scrambled neither throw nor take long', () => {
    const whole = status(22, 5);
    for (let length = 0; length < whole.length; length += 1) {
      const delay = retryDelayMs(whole.slice(0, length));
      expect(delay === undefined || Number.isFinite(delay)).toBe(true);
      for (const odd of [0, 127, 128, 255]) {
        const scrambled = Uint8Array.from(whole);
        scrambled[length] = odd;
        const other = retryDelayMs(scrambled);
        expect(other === undefined || Number.isFinite(other)).toBe(true);
      }
    }
    expect(retryDelayMs(new Uint8Array(16_000).fill(255))).toBeUndefined();
  });
});
