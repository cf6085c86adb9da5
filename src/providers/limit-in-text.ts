import type { LimitUnit, ReportedLimit } from '../model/feedback.ts';
import { UNITS_MS } from './delay-in-text.ts';
import { reported } from './rows.ts';

/** "rate limit of 30,000 input tokens per minute", "your rate limit is 480 req/min" and the like. */
const STATED =
  /\blimit(?:ed)?\b[^.\n]{0,60}?\b(\d{1,3}(?:,\d{3}){1,4}|\d{1,15}) (req|requests?|(?:input |output )?tokens?)(?: per | ?\/ ?)([a-z]{1,7})\b/i;
/** "Rate limit of 15 per 60s exceeded": GitHub Models. */
const STATED_REQUESTS =
  /\blimit of (\d{1,15}) per (\d{1,9}(?:\.\d{1,3})?) ?s(?:econds)? exceeded\b/i;
/** A unit and its time, without a number: "Tokens per minute limit exceeded", "max RPM: 3". */
const NAMED = /\b(requests|(?:input |output )?tokens) per (?:second|min|minute|hour)\b/i;
const SHORT_NAMES: ReadonlyMap<string, LimitUnit> = new Map([
  ['RPM', 'requests'],
  ['TPM', 'tokens'],
]);
const SHORT_NAME = /\b(RPM|TPM)\b/;

/** The limit whose size and window a text of a 429 states; undefined if none does. */
export function limitInText(texts: readonly string[]): ReportedLimit | undefined {
  for (const text of texts) {
    const [, amount, unit, per] = STATED.exec(text) ?? [];
    const windowMs = UNITS_MS.get(per?.toLowerCase() ?? '');
    if (amount !== undefined && unit !== undefined && windowMs !== undefined) {
      return reported(unitOf(unit), { limit: Number(amount.replaceAll(',', '')), windowMs });
    }
    const [, requests, seconds] = STATED_REQUESTS.exec(text) ?? [];
    if (requests !== undefined) {
      return reported('requests', { limit: Number(requests), windowMs: Number(seconds) * 1000 });
    }
  }
  return undefined;
}

/** What the limit counts that a text of a 429 names; undefined if none does. */
export function unitInText(texts: readonly string[]): LimitUnit | undefined {
  for (const text of texts) {
    const named = NAMED.exec(text)?.[1];
    if (named !== undefined) return unitOf(named);
    const short = SHORT_NAMES.get(SHORT_NAME.exec(text)?.[1] ?? '');
    if (short !== undefined) return short;
  }
  return undefined;
}

function unitOf(text: string): LimitUnit {
  const unit = text.toLowerCase();
  if (unit.startsWith('req')) return 'requests';
  return unit.startsWith('input')
    ? 'input-tokens'
    : unit.startsWith('output')
      ? 'output-tokens'
      : 'tokens';
}
