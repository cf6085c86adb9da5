import { describe, expect, it } from 'vitest';
import { classify } from '../../src/providers/classify.ts';

describe('Bedrock', () => {
  const aws = (name: string, httpStatusCode: number, message = 'x', headers = {}) =>
    Object.assign(new Error(message), {
      name,
      $fault: 'client',
      $metadata: { httpStatusCode, attempts: 1 },
      $response: { statusCode: httpStatusCode, headers },
    });

  it.each([
    ['ThrottlingException', 429, 'throttled', true],
    ['ThrottlingException', 400, 'throttled', true],
    ['TooManyRequestsException', 429, 'throttled', true],
    ['ProvisionedThroughputExceededException', 400, 'throttled', true],
    ['ServiceUnavailableException', 503, 'overloaded', true],
    ['ModelNotReadyException', 429, 'overloaded', true],
    ['ModelTimeoutException', 408, 'failed', true],
    ['ModelStreamErrorException', 424, 'failed', true],
    ['InternalServerException', 500, 'failed', true],
    ['ServiceQuotaExceededException', 400, 'fatal', false],
    ['AccessDeniedException', 403, 'fatal', false],
    ['ValidationException', 400, 'fatal', false],
  ])('%s (%i) is %s', (name, status, kind, retry) => {
    expect(classify(aws(name, status))).toMatchObject({ kind, retry, status });
    const overHttp = new Response(null, {
      status,
      headers: { 'x-amzn-errortype': `${name}:http://internal.amazon.com/x/` },
    });
    expect(classify(overHttp)).toMatchObject({ kind, retry });
    expect(classify({ status, body: JSON.stringify({ __type: name }) })).toMatchObject({ kind });
  });

  it('says whether tokens or requests are too many, and of a day', () => {
    const wait = 'please wait before trying again.';
    const throttled = aws('ThrottlingException', 429, `Too many tokens, ${wait}`, {
      'Retry-After': '3',
    });
    expect(classify(throttled)).toMatchObject({
      kind: 'throttled',
      limit: 'tokens',
      retryAfterMs: 3000,
    });
    expect(classify(aws('ThrottlingException', 429, `Too many requests, ${wait}`))).toMatchObject({
      limit: 'requests',
    });
    const daily = aws('ThrottlingException', 429, `Too many tokens per day, ${wait}`);
    expect(classify(daily)).toMatchObject({ kind: 'fatal', retry: false, outage: 'quota' });
  });

  it('is no outage where it throttles, whatever the status', () => {
    expect(classify(aws('ThrottlingException', 403)).outage).toBeUndefined();
    expect(classify(aws('AccessDeniedException', 403)).outage).toBe('authorisation');
  });

  it('is known by the hint of the SDK too', () => {
    const error = Object.assign(new Error('x'), { $retryable: { throttling: true } });
    expect(classify(error)).toMatchObject({ kind: 'throttled', retry: true });
  });
});
