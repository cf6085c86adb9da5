import { OPENAI_MARKS, OPENAI_ROWS } from './openai.ts';
import type { Answer, Reader, Remark } from './reader.ts';
import { DAY_MS, MINUTE_MS, readRows } from './rows.ts';

const ROWS = OPENAI_ROWS.map((row) => ({
  ...row,
  windowMs: row.unit === 'requests' ? DAY_MS : MINUTE_MS,
}));

/** "Flex tier capacity exceeded": a status of Groq's own. */
const FLEX_CAPACITY = 498;

function remark({ status }: Answer): Remark | undefined {
  return status === FLEX_CAPACITY ? { kind: 'overloaded' } : undefined;
}

/** Groq: the names and errors of OpenAI, but its requests are of a day. */
export const groq: Reader = {
  name: 'Groq',
  reads:
    'the headers of OpenAI with `x-groq-region`: requests are of a day, tokens of a minute; 498 (overloaded); "tokens per day" in messages, with their delay',
  marks: OPENAI_MARKS,
  limits: (header, answeredAtMs) =>
    header('x-groq-region') === undefined ? [] : readRows(ROWS, header, answeredAtMs),
  remark,
};
