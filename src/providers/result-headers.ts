import type { ReportedLimit } from '../model/feedback.ts';
import { reportedLimits } from './classify.ts';
import { isList, isLiveStream, isShape, read } from './shape.ts';

/**
 * The headers of the response in a successful result: a `Response`, a result of axios, of
 * `withResponse()` of the OpenAI and Anthropic SDKs, or of the AI SDK.
 * @returns a `Headers` object or a record, for `reportedLimits`; undefined for other values
 */
export function headersOfResult(value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null || isLiveStream(value)) return undefined;
  const own = headersIn(value);
  return own ?? headersIn(read(value, 'response'));
}

function headersIn(value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const headers = read(value, 'headers');
  if (!isShape(headers) || isList(headers)) return undefined;
  return headers;
}

/** The provider's limits in the value of a successful answer; undefined if there are none. */
export function limitsOfResult(value: unknown): readonly ReportedLimit[] | undefined {
  return limitsIn(headersOfResult(value));
}

/** The same in any answer, or in headers themselves. */
export function limitsTold(answer: unknown): readonly ReportedLimit[] | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return limitsIn(headersOfResult(answer) ?? answer);
}

function limitsIn(headers: object | undefined): readonly ReportedLimit[] | undefined {
  if (headers === undefined) return undefined;
  const limits = reportedLimits(headers);
  return limits.length === 0 ? undefined : limits;
}
