import type { ReportedLimit } from '../model/feedback.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import type { HeaderGet, ProviderAdapter } from './adapter.ts';
import { readRows } from './headers.ts';
import { OPENAI_MARKS, OPENAI_ROWS } from './openai.ts';
import { plainNumber } from './times.ts';

/** Headers that only Azure sends, not OpenAI. */
const AZURE_MARKS = [
  'apim-request-id',
  'x-ms-region',
  'x-ratelimit-renewalperiod-requests',
  'x-ratelimit-renewalperiod-tokens',
];

/**
 * Azure uses OpenAI's names, but evaluates limits over 1 or 10 s, and the values may be those of
 * such a slice. So the window is known only if `renewalperiod` (seconds) names it. 0 and -1 mean
 * that a unit is not counted.
 */
function limits(header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[] {
  if (AZURE_MARKS.every((name) => header(name) === undefined)) return [];
  return readRows(OPENAI_ROWS, header, answeredAtMs).flatMap(({ remaining, ...one }) => {
    const seconds = plainNumber(header(`x-ratelimit-renewalperiod-${one.unit}`));
    const left = remaining || undefined;
    if (one.limit === undefined && left === undefined) return [];
    const windowMs = seconds ? seconds * 1000 : one.windowMs;
    return [withoutUndefined({ ...one, remaining: left, windowMs })];
  });
}

/** Azure OpenAI and GitHub Models. */
export const azure: ProviderAdapter = {
  name: 'Azure OpenAI',
  marks: OPENAI_MARKS,
  limits,
};
