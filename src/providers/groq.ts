import {
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
} from './adapter.ts';
import { DAY_MS, MINUTE_MS, readRows } from './headers.ts';
import { OPENAI_MARKS, OPENAI_ROWS } from './openai.ts';

const ROWS = OPENAI_ROWS.map((row) => ({
  ...row,
  windowMs: row.unit === 'requests' ? DAY_MS : MINUTE_MS,
}));

/** Groq's own status: "Flex tier capacity exceeded". */
const FLEX_CAPACITY = 498;

function verdict({ status }: ProviderResponse): PartialVerdict | undefined {
  return status === FLEX_CAPACITY ? OVERLOADED : undefined;
}

/** Groq: OpenAI's names and errors, but the request limit is per day. */
export const groq: ProviderAdapter = {
  name: 'Groq',
  marks: OPENAI_MARKS,
  limits: (header, answeredAtMs) =>
    header('x-groq-region') === undefined ? [] : readRows(ROWS, header, answeredAtMs),
  verdict,
};
