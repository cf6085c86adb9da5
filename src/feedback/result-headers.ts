import { isList, isLiveStream, isShape, read } from './shape.ts';

/**
 * Where a successful result carries the headers of its response: a `Response`, what axios returns,
 * what the SDKs of OpenAI and Anthropic give with `withResponse()`, results of the AI SDK.
 * @returns a `Headers` object or a record, for `reportedLimits`; undefined, at once, for other things
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
