import type { ReportedLimit } from '../../model/feedback.ts';
import { OPENAI_MARKS, OPENAI_ROWS } from './openai.ts';
import type { HeaderGet, Reader } from './reader.ts';
import { readRows } from './rows.ts';
import { plainNumber } from './times.ts';

/** What tells Azure from OpenAI. */
const AZURE_MARKS = [
  'apim-request-id',
  'x-ms-region',
  'x-ratelimit-renewalperiod-requests',
  'x-ratelimit-renewalperiod-tokens',
];

/**
 * The names of OpenAI, but evaluated over 1 or 10 s, with values that may be of such a slice: the
 * window is said (`renewalperiod`, in seconds) or not known. 0 and -1 stand for what is not counted.
 */
function limits(header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[] {
  if (AZURE_MARKS.every((name) => header(name) === undefined)) return [];
  return readRows(OPENAI_ROWS, header, answeredAtMs).flatMap(({ remaining, ...one }) => {
    const seconds = plainNumber(header(`x-ratelimit-renewalperiod-${one.unit}`));
    const left = remaining !== undefined && remaining > 0 ? remaining : undefined;
    if (one.limit === undefined && left === undefined) return [];
    return [
      {
        ...one,
        ...(left !== undefined && { remaining: left }),
        ...(seconds !== undefined && seconds > 0 && { windowMs: seconds * 1000 }),
      },
    ];
  });
}

/** Azure OpenAI and GitHub Models. */
export const azure: Reader = {
  name: 'Azure OpenAI',
  reads:
    'the headers of OpenAI without values of 0 and -1; `x-ratelimit-renewalperiod-*` (the window, unknown without it)',
  marks: OPENAI_MARKS,
  limits,
};
