import type { ReportedLimit, Verdict } from '../model/feedback.ts';

/** Reads a header by its lower-case name. */
export type HeaderGet = (name: string) => string | undefined;

/** An error, or a response that is not ok, prepared once for all adapters. */
export interface ProviderResponse {
  /** HTTP status; undefined if there is none. */
  readonly status: number | undefined;
  /**
   * The error, then all objects inside it (response, body, cause …), nearest first. JSON bodies are
   * parsed.
   */
  readonly chain: readonly unknown[];
  /** All short texts in `code`, `name`, `type`, `status` or `reason` fields of the chain. */
  readonly words: ReadonlySet<string>;
  /** Messages and other texts, nearest first. Very long ones are cut. */
  readonly texts: readonly string[];
  readonly header: HeaderGet;
  /** Wall time of the answer by its own `Date`, else now, in ms since 1970. */
  answeredAtMs(): number;
}

/** The verdict of an adapter on an answer. The general rules add the fields that it leaves out. */
export interface PartialVerdict
  extends Partial<
    Pick<Verdict, 'kind' | 'retry' | 'retryAfterMs' | 'limit' | 'limits' | 'outage'>
  > {
  /**
   * Whether to ignore `Retry-After`, because it does not describe the limit that was hit. Default
   * false.
   */
  readonly ignoresRetryAfter?: boolean;
}

/** The verdicts on most answers; `AGAIN` on a failure that the same request may not meet again. */
export const AGAIN: PartialVerdict = { kind: 'failed', retry: true };
export const FATAL: PartialVerdict = { kind: 'fatal' };
export const THROTTLED: PartialVerdict = { kind: 'throttled' };
export const OVERLOADED: PartialVerdict = { kind: 'overloaded' };
export const NO_QUOTA: PartialVerdict = { kind: 'fatal', outage: 'quota' };
export const NO_MONEY: PartialVerdict = { kind: 'fatal', outage: 'billing' };

/** The verdict on an answer that refuses the key, or what the key may do. */
export const UNAUTHORISED: PartialVerdict = { kind: 'fatal', outage: 'authorisation' };

/** The verdicts on answers that name the limit. */
export const TOO_MANY_REQUESTS: PartialVerdict = { kind: 'throttled', limit: 'requests' };
export const TOO_MANY_TOKENS: PartialVerdict = { kind: 'throttled', limit: 'tokens' };

/** Verdicts by the words with which errors are named. */
export type Words = Readonly<Record<string, PartialVerdict>>;

/** The verdict of the first of these words that an answer has. */
export function verdictByWord(
  known: Words,
  { words }: Pick<ProviderResponse, 'words'>,
): PartialVerdict | undefined {
  for (const word in known) if (words.has(word)) return known[word];
  return undefined;
}

/**
 * Reads the answers of one family of providers, by their shape alone. It leaves answers that it
 * does not recognise to other adapters.
 */
export interface ProviderAdapter {
  /** The name of the family in messages and tables. */
  readonly name: string;
  /**
   * Lower-case header names. `limits` is called for a response that has one of them. Every response
   * is searched for all names, so give one or two that always come.
   */
  readonly marks?: readonly string[];
  /**
   * The limits in the headers. An empty list leaves them to the next adapter.
   * @param answeredAtMs wall time of the answer, for resets that are times
   */
  limits?(header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[];
  /** Returns the meaning of an error; undefined leaves it to the next adapter. */
  verdict?(answer: ProviderResponse): PartialVerdict | undefined;
}
