import type { ReportedLimit, Verdict } from '../../model/feedback.ts';
import { headerGetOf } from '../headers.ts';
import { judge } from '../judge.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock.ts';
import { cohere } from './cohere.ts';
import { google } from './google.ts';
import { groq } from './groq.ts';
import { grpc } from './grpc.ts';
import { ietf } from './ietf.ts';
import { litellm } from './litellm.ts';
import { mistral } from './mistral.ts';
import { openai } from './openai.ts';
import type { HeaderGet, Reader } from './reader.ts';
import { dateMs } from './times.ts';
import { tinker } from './tinker.ts';
import { together } from './together.ts';

/**
 * The readers of headgate, in the order in which they are asked: those that share names with others,
 * and know them by more, come before these.
 */
export const defaultProviders: readonly Reader[] = [
  litellm,
  grpc,
  google,
  bedrock,
  groq,
  azure,
  openai,
  anthropic,
  tinker,
  mistral,
  ietf,
  cohere,
  together,
];

/** What some readers make of answers. */
export interface Providers {
  /**
   * What an error, or a response that says no, means.
   * @param body of a `Response`, where it has been read
   * @throws what a reader of your own throws; those of headgate do not
   */
  readonly classify: (error: unknown, body?: string) => Verdict;
  /**
   * What headers say of the provider's limits: empty, and next to nothing to find out, where they say
   * nothing.
   * @param headers a `Headers` object, a Map or a record
   * @param atWallMs when the response came, in ms since 1970, where it has no `Date`. Default: now
   * @throws what a reader of your own throws; those of headgate do not
   */
  readonly reportedLimits: (headers: unknown, atWallMs?: number) => readonly ReportedLimit[];
}

const NONE: readonly ReportedLimit[] = [];

/**
 * Reads answers with the readers given, the first of which that knows an answer decides.
 *
 * @example
 * const { classify } = readProviders([mine, ...defaultProviders]);
 * prompts$.pipe(throttle(send, { classify }));
 */
export function readProviders(readers: readonly Reader[]): Providers {
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

/** What a reader of the user makes of a header may be NaN. */
function isSound({ limit, remaining, resetMs, windowMs }: ReportedLimit): boolean {
  const isWindow = isAmount(windowMs) && windowMs !== 0;
  return isAmount(limit) && isAmount(remaining) && isAmount(resetMs) && isWindow;
}

function isAmount(value: number | undefined): boolean {
  return value === undefined || (Number.isFinite(value) && value >= 0);
}

/** Who is asked where a header is there: each name is looked up once, whoever shares it. */
function readersByMark(readers: readonly Reader[]): readonly (readonly [string, Reader[]])[] {
  const byMark = new Map<string, Reader[]>();
  for (const reader of readers) {
    for (const mark of reader.marks ?? []) byMark.set(mark, [...(byMark.get(mark) ?? []), reader]);
  }
  return [...byMark];
}
