import { isRejection, type Verdict } from '../../model/feedback.ts';
import type { CompletedAttempt } from '../../policies/policy.ts';
import type { Data } from '../protocol.ts';

/** Why an attempt has no result to learn from. */
export const WITHDRAWN = 1;
export const NOT_SENT = 2;
/** An accepted attempt has ended whose result was told when its answer began. */
export const TOLD = 3;

/** Flags of an attempt that was sent. */
export const PACED = 1;
export const WAITED = 2;

/** An attempt in flight. */
export interface ReportedAttempt {
  readonly id: number;
  readonly at: number;
  /** Whether its answer has begun. */
  hasBegun: boolean;
}

interface Sent {
  readonly id: number;
  readonly at: number;
  readonly flags: number;
  readonly tokens: number;
}

/** An answer has begun, or an attempt has ended. */
interface Result {
  readonly id: number;
  readonly at: number;
  readonly resultAt: number;
  /** Whether the answer goes on. */
  readonly goesOn: boolean;
  readonly verdict: Verdict | typeof WITHDRAWN | typeof NOT_SENT | typeof TOLD;
  readonly used: number | undefined;
}

/** While the store is away, lists of sends and results that reach twice this length are halved. */
const MOST_KEPT = 2_000;

/** Reports contain ages: whole microseconds before the call. */
const US = 1_000;

/**
 * The observations of one worker: when each attempt was sent, when an answer that goes on began,
 * and how the attempt ended. A report is `[in flight, id of the first of them,
 * [id, age, flags, tokens, ...], [[id, age, age of its end, verdict, tokens used], ...],
 * [[id, age, age of its beginning, verdict], ...]]`, without the last list if it is empty.
 */
export class AttemptReports {
  private readonly inFlight = new Set<number>();
  private sends: Sent[] = [];
  private results: Result[] = [];
  private nextId = 1;

  sent(flags: number, tokens: number, at: number): ReportedAttempt {
    const id = this.nextId;
    this.nextId += 1;
    this.inFlight.add(id);
    this.sends = withLatest(this.sends, { id, at, flags, tokens });
    return { id, at, hasBegun: false };
  }

  /** @returns whether there is anything to report: an answer begins once */
  begun(attempt: ReportedAttempt, verdict: Verdict, resultAt: number): boolean {
    const { id, at, hasBegun } = attempt;
    if (hasBegun || !this.inFlight.has(id)) return false;
    attempt.hasBegun = true;
    const begun = { id, at, resultAt, goesOn: true, verdict, used: undefined };
    this.results = withLatest(this.results, begun);
    return true;
  }

  /** @returns whether the provider rejected the attempt: this should be reported soon */
  ended(attempt: ReportedAttempt, completed: CompletedAttempt, resultAt: number): boolean {
    const { id, at, hasBegun } = attempt;
    if (!this.inFlight.delete(id)) return false;
    const verdict = resultOf(completed, hasBegun);
    const used = completed.usage?.tokens;
    this.results = withLatest(this.results, { id, at, resultAt, goesOn: false, verdict, used });
    return typeof verdict === 'object' && isRejection(verdict);
  }

  /** Takes out the report for the next call. @returns undefined: there is nothing to report */
  take(now: number): { readonly report: Data; readonly sends: number } | undefined {
    const { sends, results, inFlight } = this;
    if (sends.length === 0 && results.length === 0) return undefined;
    this.sends = [];
    this.results = [];
    const age = (at: number) => Math.round((now - at) * US);
    const first = inFlight.values().next().value ?? this.nextId;
    const told = sends.flatMap(({ id, at, flags, tokens }) => [id, age(at), flags, tokens]);
    // Only the last answer that names its limits is reported with them.
    const freshest = results.findLast(({ verdict }) => tellsLimits(verdict));
    const begins: Data[] = [];
    const ends: Data[] = [];
    for (const result of results) {
      const { id, at, resultAt, used = -1 } = result;
      const times = [id, age(at), age(resultAt)];
      const verdict = verdictData(result.verdict, result === freshest);
      if (result.goesOn) begins.push([...times, verdict]);
      else ends.push([...times, verdict, used]);
    }
    const report = [inFlight.size, first, told, ends, ...(begins.length > 0 ? [begins] : [])];
    return { report, sends: sends.length };
  }
}

/** Adds to a list. When it reaches twice the kept length, drops its older half. */
function withLatest<T>(list: T[], value: T): T[] {
  list.push(value);
  return list.length < 2 * MOST_KEPT ? list : list.slice(-MOST_KEPT);
}

function resultOf({ isSent, verdict }: CompletedAttempt, hasBegun: boolean): Result['verdict'] {
  if (!isSent) return NOT_SENT;
  const isCutOff = verdict === undefined || verdict.kind === 'failed';
  // Its beginning has shown that it was accepted, perhaps to an earlier leader.
  if (hasBegun && (isCutOff || !isRejection(verdict))) return TOLD;
  return isCutOff ? WITHDRAWN : verdict;
}

function tellsLimits(verdict: Result['verdict']): boolean {
  return typeof verdict === 'object' && verdict.limits !== undefined;
}

function verdictData(verdict: Result['verdict'], isFreshest: boolean): Data {
  if (typeof verdict === 'number') return verdict;
  const { kind, retryAfterMs, limits, limit } = verdict;
  const isTold = limits !== undefined && (isFreshest || isRejection(verdict));
  if (!isTold && !isRejection(verdict)) return 0;
  return {
    kind,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(limit !== undefined && { limit }),
    ...(isTold && { limits: limits.map((each) => ({ ...each })) }),
  };
}
