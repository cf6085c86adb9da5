import {
  AGAIN,
  NO_QUOTA,
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  THROTTLED,
  UNAUTHORISED,
  verdictByWord,
  type Words,
} from './adapter.ts';
import { matchIn } from './error-chain.ts';
import { read } from './shape.ts';

/** Error names of AWS, from Bedrock's API reference and the throttling codes of the AWS SDKs. */
const REMARKS: Words = {
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
  const [, unit, daily] = matchIn(answer.texts, TOO_MANY);
  if (unit === undefined) return known;
  const limit = unit.toLowerCase();
  // A daily quota: another attempt today fails too.
  return daily === undefined ? { ...known, limit } : { ...NO_QUOTA, limit: `${limit} per day` };
}

function verdictOf({ chain, words, header }: ProviderResponse): PartialVerdict | undefined {
  // Over plain HTTP the name is in a header, followed by a link.
  const typed = header('x-amzn-errortype')?.split(/[:,]/, 1)[0]?.trim();
  const named = { words: new Set([typed ?? '']) };
  const known = verdictByWord(REMARKS, named) ?? verdictByWord(REMARKS, { words });
  if (known !== undefined) return known;
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
