import { isRejection, type Verdict } from '../../model/feedback.ts';
import type { CompletedAttempt } from '../../policies/policy.ts';
import type { Data } from '../protocol.ts';

/** Why an attempt has no result to learn from. */
export const WITHDRAWN = 1;
export const NOT_SENT = 2;

/** Flags of an attempt that was sent. */
export const PACED = 1;
export const WAITED = 2;

/** An attempt in flight. */
export interface ReportedAttempt {
  readonly id: number;
  readonly at: number;
}

interface Sent extends ReportedAttempt {
  readonly flags: number;
  readonly tokens: number;
}

interface Ended extends ReportedAttempt {
  readonly endedAt: number;
  readonly verdict: Verdict | typeof WITHDRAWN | typeof NOT_SENT;
  readonly used: number | undefined;
}

/** While the store is away, lists of sends and ends that reach twice this length are halved. */
const MOST_KEPT = 2_000;

/** Reports contain ages: whole microseconds before the call. */
const US = 1_000;

/**
 * The observations of one worker: when each attempt was sent, and its result. A report is
 * `[in flight, id of the first of them, [id, age, flags, tokens, ...],
 * [[id, age, age of its end, verdict, tokens used], ...]]`.
 */
export class AttemptReports {
  private readonly inFlight = new Set<number>();
  private sends: Sent[] = [];
  private ends: Ended[] = [];
  private nextId = 1;

  sent(flags: number, tokens: number, at: number): ReportedAttempt {
    const sent = { id: this.nextId, at, flags, tokens };
    this.nextId += 1;
    this.inFlight.add(sent.id);
    this.sends = withLatest(this.sends, sent);
    return sent;
  }

  /** @returns whether the provider rejected the attempt: this should be reported soon */
  ended({ id, at }: ReportedAttempt, completed: CompletedAttempt, endedAt: number): boolean {
    if (!this.inFlight.delete(id)) return false;
    const { isSent, verdict, usage } = completed;
    const tells = isSent && verdict !== undefined && verdict.kind !== 'failed';
    const result = tells ? verdict : isSent ? WITHDRAWN : NOT_SENT;
    this.ends = withLatest(this.ends, { id, at, endedAt, verdict: result, used: usage?.tokens });
    return typeof result === 'object' && isRejection(result);
  }

  /** Takes out the report for the next call. @returns undefined: there is nothing to report */
  take(now: number): { readonly report: Data; readonly sends: number } | undefined {
    const { sends, ends, inFlight } = this;
    if (sends.length === 0 && ends.length === 0) return undefined;
    this.sends = [];
    this.ends = [];
    const age = (at: number) => Math.round((now - at) * US);
    const first = inFlight.values().next().value ?? this.nextId;
    const told = sends.flatMap(({ id, at, flags, tokens }) => [id, age(at), flags, tokens]);
    // Only the last answer that names its limits is reported with them.
    const freshest = ends.findLast(({ verdict }) => tellsLimits(verdict));
    const results = ends.map((end) => {
      const verdict = verdictData(end.verdict, end === freshest);
      return [end.id, age(end.at), age(end.endedAt), verdict, end.used ?? -1];
    });
    return { report: [inFlight.size, first, told, results], sends: sends.length };
  }
}

/** Adds to a list. When it reaches twice the kept length, drops its older half. */
function withLatest<T>(list: T[], value: T): T[] {
  list.push(value);
  return list.length < 2 * MOST_KEPT ? list : list.slice(-MOST_KEPT);
}

function tellsLimits(verdict: Ended['verdict']): boolean {
  return typeof verdict === 'object' && verdict.limits !== undefined;
}

function verdictData(verdict: Ended['verdict'], isFreshest: boolean): Data {
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
