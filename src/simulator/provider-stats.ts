/**
 * How much the limits would have allowed, without the time of outages. The burst of a full bucket,
 * at the start and after an outage, is not counted, so a greedy client may get a little more.
 */
export interface ProviderCapacity {
  /**
   * Requests until now: the least of all limits on requests, and of the units divided by the mean
   * time of the requests they served. Infinity when nothing limits requests.
   */
  requests: number;
  /** Input and output tokens until now, by the least limit on `tokens`; Infinity without one. */
  tokens: number;
}

/** Counts per second since the provider was made; `completed[3]` is the fourth second. */
export interface ProviderSeries {
  /** The first second of the arrays: above 0 once they were cut to the last day. */
  fromSecond: number;
  /** Admitted requests, by time of arrival. */
  accepted: readonly number[];
  /** Requests with a successful answer, by time of the answer: the goodput. */
  completed: readonly number[];
  /** Rejected requests, by time of arrival. */
  rejected: readonly number[];
}

/** The counts of a provider. Every request is in flight, completed, rejected, failed or aborted. */
export interface ProviderStats {
  /** Milliseconds since the provider was made. */
  elapsedMs: number;
  submitted: number;
  /** Admitted requests. */
  accepted: number;
  /** Requests with a successful answer. */
  completed: number;
  /** Admitted requests that failed at random. */
  failed: number;
  /** Admitted requests that ended early: by their signal, or because a callback threw. */
  aborted: number;
  rejected: number;
  /** Rejected requests, by the name of the limit, or `concurrency`, `storm`, `quota`, `key`. */
  rejectedBy: Readonly<Record<string, number>>;
  /** Accepted and not yet answered: requests that are served or wait for a unit. */
  inFlight: number;
  peakInFlight: number;
  /** Of those in flight, how many wait for a unit. */
  queued: number;
  /** Tokens of successful answers. */
  inputTokens: number;
  outputTokens: number;
  /** Payload of all admitted requests. */
  bytes: number;
  capacity: ProviderCapacity;
  series: ProviderSeries;
}

type SeriesName = 'accepted' | 'completed' | 'rejected';

const SERIES: readonly SeriesName[] = ['accepted', 'completed', 'rejected'];
const KEPT_SECONDS = 86_400;

/** Keeps the counts of {@link ProviderStats}. Times are milliseconds since the provider's start. */
export class StatsRecorder {
  submitted = 0;
  accepted = 0;
  completed = 0;
  failed = 0;
  aborted = 0;
  rejected = 0;
  inFlight = 0;
  peakInFlight = 0;
  inputTokens = 0;
  outputTokens = 0;
  bytes = 0;
  /** Milliseconds that units spent on completed requests. */
  serviceMs = 0;
  readonly #rejectedBy = new Map<string, number>();
  readonly #series: Record<SeriesName, number[]> = { accepted: [], completed: [], rejected: [] };
  #fromSecond = 0;

  accept(nowMs: number, bytes: number): void {
    this.accepted++;
    this.bytes += bytes;
    this.inFlight++;
    this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
    this.#count('accepted', nowMs);
  }

  complete(nowMs: number, inputTokens: number, outputTokens: number): void {
    this.completed++;
    this.inputTokens += inputTokens;
    this.outputTokens += outputTokens;
    this.#count('completed', nowMs);
  }

  reject(nowMs: number, by: string): void {
    this.rejected++;
    this.#rejectedBy.set(by, (this.#rejectedBy.get(by) ?? 0) + 1);
    this.#count('rejected', nowMs);
  }

  snapshot(elapsedMs: number, queued: number, capacity: ProviderCapacity): ProviderStats {
    const { accepted, completed, rejected } = this.#series;
    return {
      elapsedMs,
      submitted: this.submitted,
      accepted: this.accepted,
      completed: this.completed,
      failed: this.failed,
      aborted: this.aborted,
      rejected: this.rejected,
      rejectedBy: Object.fromEntries(this.#rejectedBy),
      inFlight: this.inFlight,
      peakInFlight: this.peakInFlight,
      queued,
      inputTokens: this.inputTokens,
      outputTokens: this.outputTokens,
      bytes: this.bytes,
      capacity,
      series: {
        fromSecond: this.#fromSecond,
        accepted: [...accepted],
        completed: [...completed],
        rejected: [...rejected],
      },
    };
  }

  #count(name: SeriesName, nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second - this.#fromSecond >= 2 * KEPT_SECONDS) this.#cut(second - KEPT_SECONDS + 1);
    const index = second - this.#fromSecond;
    for (const each of SERIES) {
      const counts = this.#series[each];
      while (counts.length <= index) counts.push(0);
    }
    const counts = this.#series[name];
    counts[index] = (counts[index] ?? 0) + 1;
  }

  #cut(fromSecond: number): void {
    for (const name of SERIES) {
      this.#series[name] = this.#series[name].slice(fromSecond - this.#fromSecond);
    }
    this.#fromSecond = fromSecond;
  }
}
