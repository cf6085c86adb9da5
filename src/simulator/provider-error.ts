import type { ProviderAnswer } from './provider-types.ts';

/** An answer that is not ok, in the shape in which client libraries throw API errors. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  /** HTTP status; undefined when the connection broke. */
  readonly status: number | undefined;
  /** Such as `rate_limit_exceeded`, `insufficient_quota`, `ECONNRESET`. */
  readonly code: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: ProviderAnswer;

  constructor(answer: ProviderAnswer, headers: Readonly<Record<string, string>>) {
    const message = answer.message ?? answer.kind;
    super(answer.status === 0 ? message : `${answer.status} ${message}`);
    this.status = answer.status === 0 ? undefined : answer.status;
    this.code = answer.code;
    this.headers = headers;
    this.answer = answer;
  }
}
