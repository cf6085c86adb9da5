import type { ReportedLimit, Verdict } from '../model/feedback.ts';
import { checkMethods, wrongType } from '../util/check.ts';
import type { HeaderGet, ProviderAdapter } from './adapter.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock.ts';
import { cohere } from './cohere.ts';
import { google } from './google.ts';
import { groq } from './groq.ts';
import { grpc } from './grpc.ts';
import { headerGetOf } from './headers.ts';
import { ietf } from './ietf.ts';
import { judge } from './judge.ts';
import { litellm } from './litellm.ts';
import { mistral } from './mistral.ts';
import { openai } from './openai.ts';
import { openrouter } from './openrouter.ts';
import { otherCodes } from './other-codes.ts';
import { dateMs } from './times.ts';
import { tinker } from './tinker.ts';
import { together } from './together.ts';

/**
 * Headgate's adapters, in the order in which they are asked. A more specific adapter comes before a
 * general one that reads the same names.
 */
export const defaultProviders: readonly ProviderAdapter[] = [
  litellm,
  openrouter,
  grpc,
  google,
  bedrock,
  groq,
  azure,
  otherCodes,
  openai,
  anthropic,
  tinker,
  mistral,
  ietf,
  cohere,
  together,
];

/** Reads answers with a list of adapters. */
export interface Providers {
  /**
   * Returns the meaning of an error, or of a response that is not ok.
   * @param body the body of a `Response`, if it was read
   * @throws what your own adapter throws, TypeError for a field that no verdict has; headgate's own
   *   adapters do not throw
   */
  readonly classify: (error: unknown, body?: string) => Verdict;
  /**
   * Returns the provider's limits in response headers. Empty if there are none, at nearly no cost.
   * @param headers a `Headers` object, a Map or a record
   * @param atWallMs when the response came, in ms since 1970, for one without `Date`. Default: now
   * @throws what your own adapter throws; headgate's own do not throw
   */
  readonly reportedLimits: (headers: unknown, atWallMs?: number) => readonly ReportedLimit[];
}

const NONE: readonly ReportedLimit[] = [];

/**
 * Reads answers with these adapters. The first that recognises an answer decides.
 *
 * @throws TypeError for a value that is not an array of adapters
 * @example
 * const { classify } = readProviders([mine, ...defaultProviders]);
 * prompts$.pipe(throttle(send, { classify }));
 */
export function readProviders(readers: readonly ProviderAdapter[]): Providers {
  if (!Array.isArray(readers)) wrongType('readers', 'an array of provider adapters', readers);
  for (const [index, reader] of readers.entries()) checkMethods(`readers[${index}]`, reader, []);
  const byMark = readersByMark(readers);
  const limitsOf = (header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[] => {
    for (const [mark, marked] of byMark) {
      if (header(mark) === undefined) continue;
      for (const reader of marked) {
        const limits = reader.limits?.(header, answeredAtMs) ?? NONE;
        if (limits.length > 0) return limits.every(isSound) ? limits : limits.filter(isSound);
      }
    }
    return NONE;
  };
  return {
    classify: (error, body) => judge(error, body, readers, limitsOf),
    reportedLimits: (headers, atWallMs) => {
      const header = headerGetOf(headers);
      return limitsOf(header, () => dateMs(header('date')) ?? atWallMs ?? Date.now());
    },
  };
}

/** An adapter of the user may return NaN. */
function isSound({ limit, remaining, resetMs, windowMs }: ReportedLimit): boolean {
  const isWindow = isAmount(windowMs) && windowMs !== 0;
  return isAmount(limit) && isAmount(remaining) && isAmount(resetMs) && isWindow;
}

function isAmount(value: number | undefined): boolean {
  return value === undefined || (Number.isFinite(value) && value >= 0);
}

/** The adapters to ask by header name. Each name is looked up once per response. */
function readersByMark(
  readers: readonly ProviderAdapter[],
): readonly (readonly [string, ProviderAdapter[]])[] {
  const byMark = new Map<string, ProviderAdapter[]>();
  for (const reader of readers) {
    for (const mark of reader.marks ?? []) byMark.set(mark, [...(byMark.get(mark) ?? []), reader]);
  }
  return [...byMark];
}
