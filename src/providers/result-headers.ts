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
