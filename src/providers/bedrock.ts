import {
  AGAIN,
  NO_QUOTA,
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  THROTTLED,
  UNAUTHORISED,
} from './adapter.ts';
import { read } from './shape.ts';

/** Error names of AWS, from Bedrock's API reference and the throttling codes of the AWS SDKs. */
const REMARKS: Readonly<Record<string, PartialVerdict>> = {
  ThrottlingException: THROTTLED,
  Throttling: THROTTLED,
  ThrottledException: THROTTLED,
  TooManyRequestsException: THROTTLED,
  RequestLimitExceeded: THROTTLED,
  ProvisionedThroughputExceededException: THROTTLED,
  ServiceQuotaExceededException: NO_QUOTA,
  ServiceUnavailableException: OVERLOADED,
  ModelNotReadyException: OVERLOADED,
  ModelTimeoutException: AGAIN,
  ModelStreamErrorException: AGAIN,
  InternalServerException: AGAIN,
  AccessDeniedException: UNAUTHORISED,
  UnrecognizedClientException: UNAUTHORISED,
  ExpiredTokenException: UNAUTHORISED,
};

const TOO_MANY = /\bToo many (tokens|requests)( per day)?\b/i;

function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  const known = verdictOf(answer);
  if (known?.kind !== 'throttled') return known;
  for (const text of answer.texts) {
    const [, unit, daily] = TOO_MANY.exec(text) ?? [];
    if (unit === undefined) continue;
    const limit = unit.toLowerCase();
    // A daily quota: another attempt today fails too.
    if (daily !== undefined) return { ...NO_QUOTA, limit: `${limit} per day` };
    return { ...known, limit };
  }
  return known;
}

function verdictOf({ chain, words, header }: ProviderResponse): PartialVerdict | undefined {
  // Over plain HTTP the name is in a header, followed by a link.
  const typed = header('x-amzn-errortype')?.split(/[:,]/, 1)[0]?.trim();
  const name =
    typed !== undefined && Object.hasOwn(REMARKS, typed)
      ? typed
      : Object.keys(REMARKS).find((one) => words.has(one));
  if (name !== undefined) return REMARKS[name];
  const isThrottling = chain.some(
    (layer) => read(read(layer, '$retryable'), 'throttling') === true,
  );
  return isThrottling ? THROTTLED : undefined;
}

/** Amazon Bedrock: errors of the AWS SDK, and plain HTTP. */
export const bedrock: ProviderAdapter = {
  name: 'Amazon Bedrock',
  verdict,
};
