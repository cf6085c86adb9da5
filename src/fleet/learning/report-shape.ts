import { FEEDBACK_KINDS, type FeedbackKind } from '../../model/feedback.ts';
import type { Data, ReportEntry } from '../protocol.ts';

/**
 * Whether an entry has the shape that `AttemptReports` gives it. Other programs may write to the
 * store, and what cannot be read must not stop the leader: the next one would read the same.
 */
export function isReadable(entry: ReportEntry): boolean {
  const [time, worker, report] = listOf(entry);
  return isNumber(time) && typeof worker === 'string' && (report === 0 || isReport(report));
}

function isReport(report: Data | undefined): boolean {
  if (!isList(report)) return false;
  const [inFlight, first, sends, ends, begins = []] = report;
  const areNumbers = isList(sends) && [inFlight, first, ...sends].every(isNumber);
  return areNumbers && [ends, begins].every((list) => isList(list) && list.every(isResult));
}

function isResult(result: Data): boolean {
  const [id, sentAge, age, verdict, used = 0] = listOf(result);
  return [id, sentAge, age, used].every(isNumber) && (isNumber(verdict) || isVerdict(verdict));
}

function isVerdict(verdict: Data | undefined): boolean {
  if (!isRecord(verdict)) return false;
  const { kind, retryAfterMs = 0, limits = [] } = verdict;
  const isKnown = FEEDBACK_KINDS.includes(kind as FeedbackKind) && isNumber(retryAfterMs);
  return isKnown && isList(limits) && limits.every(isLimit);
}

function isLimit(limit: Data): boolean {
  if (!isRecord(limit)) return false;
  const { limit: most = 0, remaining = 0, resetMs = 0, windowMs = 0 } = limit;
  return [most, remaining, resetMs, windowMs].every(isNumber);
}

function isNumber(value: Data | undefined): boolean {
  return Number.isFinite(value);
}

function isList(value: Data | undefined): value is readonly Data[] {
  return Array.isArray(value);
}

function listOf(value: Data): readonly (Data | undefined)[] {
  return isList(value) ? value : [];
}

export function isRecord(value: Data | undefined): value is { readonly [name: string]: Data } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
