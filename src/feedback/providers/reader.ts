import type { ReportedLimit, Verdict } from '../../model/feedback.ts';

/** The value of a header, by its name in lower case. */
export type HeaderGet = (name: string) => string | undefined;

/** What is known of an error, or of a response that says no: gathered once, for all readers. */
export interface Answer {
  /** HTTP status; undefined where none is said. */
  readonly status: number | undefined;
  /**
   * The error, then all that it carries inside (response, body, cause …), nearest first. Bodies
   * that are JSON texts are parsed.
   */
  readonly layers: readonly unknown[];
  /** Every short text under `code`, `name`, `type`, `status`, `reason` … in any layer. */
  readonly words: ReadonlySet<string>;
  /** Messages and other texts, nearest first, cut where they are very long. */
  readonly texts: readonly string[];
  readonly header: HeaderGet;
  /** Wall time of the answer by its own `Date`, else the time now; ms since 1970. */
  answeredAtMs(): number;
}

/** What a reader says of an answer; what it leaves out is read in the general way. */
export interface Remark
  extends Partial<
    Pick<Verdict, 'kind' | 'retry' | 'retryAfterMs' | 'limit' | 'limits' | 'outage'>
  > {
  /** `Retry-After` does not speak of the limit that was hit, and is left out. Default false. */
  readonly ignoresRetryAfter?: boolean;
}

/**
 * Reads the answers of one family of providers, by their shape alone. An answer that is none of its
 * own it leaves to the others.
 */
export interface Reader {
  /** The family, as messages and tables name it. */
  readonly name: string;
  /** What it reads, for people. */
  readonly reads?: string;
  /**
   * Names of headers in lower case: `limits` is called for a response that has one of them. Every
   * response is searched for all of them, so one or two that always come are best.
   */
  readonly marks?: readonly string[];
  /**
   * The limits that headers tell of; an empty list leaves them to the next reader.
   * @param answeredAtMs wall time of the answer, for resets that are times
   */
  limits?(header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[];
  /** What an error means; undefined leaves it to the next reader. */
  remark?(answer: Answer): Remark | undefined;
}
