import { read } from '../shape.ts';
import type { Answer, Reader, Remark } from './reader.ts';

/** Names of errors of AWS (Bedrock's API reference; the throttling codes of the AWS SDKs). */
const REMARKS: Readonly<Record<string, Remark>> = {
  ThrottlingException: { kind: 'throttled' },
  Throttling: { kind: 'throttled' },
  ThrottledException: { kind: 'throttled' },
  TooManyRequestsException: { kind: 'throttled' },
  RequestLimitExceeded: { kind: 'throttled' },
  ProvisionedThroughputExceededException: { kind: 'throttled' },
  ServiceQuotaExceededException: { kind: 'fatal', outage: 'quota' },
  ServiceUnavailableException: { kind: 'overloaded' },
  ModelNotReadyException: { kind: 'overloaded' },
  ModelTimeoutException: { kind: 'failed', retry: true },
  ModelStreamErrorException: { kind: 'failed', retry: true },
  InternalServerException: { kind: 'failed', retry: true },
  AccessDeniedException: { kind: 'fatal', outage: 'authorisation' },
  UnrecognizedClientException: { kind: 'fatal', outage: 'authorisation' },
  ExpiredTokenException: { kind: 'fatal', outage: 'authorisation' },
};

const TOO_MANY = /\bToo many (tokens|requests)( per day)?\b/i;

function remark(answer: Answer): Remark | undefined {
  const said = remarkOf(answer);
  if (said?.kind !== 'throttled') return said;
  for (const text of answer.texts) {
    const [, unit, daily] = TOO_MANY.exec(text) ?? [];
    if (unit === undefined) continue;
    const limit = unit.toLowerCase();
    // Asking again today does not help.
    if (daily !== undefined) return { kind: 'fatal', outage: 'quota', limit: `${limit} per day` };
    return { ...said, limit };
  }
  return said;
}

function remarkOf({ layers, words, header }: Answer): Remark | undefined {
  // Over plain HTTP the name is in a header, with a link behind it.
  const typed = header('x-amzn-errortype')?.split(/[:,]/, 1)[0]?.trim();
  const name =
    typed !== undefined && Object.hasOwn(REMARKS, typed)
      ? typed
      : Object.keys(REMARKS).find((one) => words.has(one));
  if (name !== undefined) return REMARKS[name];
  const isThrottling = layers.some(
    (layer) => read(read(layer, '$retryable'), 'throttling') === true,
  );
  return isThrottling ? { kind: 'throttled' } : undefined;
}

/** Amazon Bedrock, by the errors of the AWS SDK or over plain HTTP. */
export const bedrock: Reader = {
  name: 'Amazon Bedrock',
  reads:
    '`ThrottlingException` and the other names of AWS errors, also from `x-amzn-errortype`; tokens or requests; `per day` and `ServiceQuotaExceededException` (final)',
  remark,
};
