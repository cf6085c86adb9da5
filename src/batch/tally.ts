import { codeOf, messageOf } from './errors.ts';
import { StatusError, shorten } from './http/failures.ts';
import { at, textAt } from './json.ts';
import type { ResultLine, TokenUsage } from './ledger/result-line.ts';
import type { SentBy } from './request.ts';

/** Results older than this do not count for the rate now. */
const NOW_MS = 10_000;
/** The ETA uses the rate over this time, so that it does not jump. */
const LONG_MS = 120_000;
const STEP_MS = 500;

/** Measures how fast requests end. All times in ms, of the same clock. */
export class RateMeter {
  /** Counts at the ends of steps, the oldest first. */
  readonly #samples: { at: number; count: number }[] = [];
  #count = 0;

  add(now: number): void {
    if (this.#samples.length === 0) this.#samples.push({ at: now, count: 0 });
    this.#count += 1;
    const last = this.#samples.at(-1);
    if (last !== undefined && now - last.at < STEP_MS) return;
    this.#samples.push({ at: now, count: this.#count });
    while ((this.#samples[1]?.at ?? now) < now - LONG_MS) this.#samples.shift();
  }

  /** Requests a second over the last ten seconds; undefined: no request has ended yet. */
  perSecond(now: number): number | undefined {
    return this.#over(NOW_MS, now);
  }

  /** The same over the last two minutes. */
  longPerSecond(now: number): number | undefined {
    return this.#over(LONG_MS, now);
  }

  #over(spanMs: number, now: number): number | undefined {
    const from = this.#samples.find(({ at }) => at >= now - spanMs);
    if (from === undefined) return this.#count === 0 ? undefined : 0;
    const seconds = Math.max(now - from.at, STEP_MS) / 1_000;
    return (this.#count - from.count) / seconds;
  }
}

/** The most kinds of errors that are counted separately; further ones are counted together. */
const MOST_KINDS = 40;
const OTHERS = 'others';

/** Errors of one kind. */
export interface ErrorCount {
  /** Such as `400 context_length_exceeded`. */
  readonly kind: string;
  readonly count: number;
  /** The message of the last one. */
  readonly message: string;
}

/** Counts the outcomes of requests. */
export class Tally {
  /** Requests that have a good result from before, and failed ones that are not sent again. */
  doneBefore = 0;
  failedBefore = 0;
  ok = 0;
  failed = 0;
  /** Good results that came from the cache. */
  cached = 0;
  /** Calls to the API; of these: answered with 429, and retries. */
  attempts = 0;
  rejected = 0;
  retried = 0;
  waitedMs = 0;
  inputTokens = 0;
  cachedTokens = 0;
  outputTokens = 0;
  readonly finished = new RateMeter();
  readonly #errors = new Map<string, { count: number; message: string }>();

  add({ error, headgate }: ResultLine, now: number): void {
    if (error === null) this.ok += 1;
    else {
      this.failed += 1;
      this.addError(error.code, error.message);
    }
    this.waitedMs += headgate.waited_ms;
    this.#addUsage(headgate.usage);
    this.finished.add(now);
  }

  /** A request was answered from the cache. It does not count for the rate. */
  addCached(): void {
    this.ok += 1;
    this.cached += 1;
  }

  /** Adds the further attempts that a worker process made within one attempt counted here. */
  addSent(sent: SentBy | undefined): void {
    if (sent === undefined) return;
    this.attempts += sent.attempts - 1;
    this.retried += sent.attempts - 1;
    this.rejected += sent.rejected;
  }

  get errors(): ErrorCount[] {
    return [...this.#errors]
      .map(([kind, { count, message }]) => ({ kind, count, message }))
      .sort((a, b) => b.count - a.count);
  }

  addError(kind: string, message: string): void {
    const isKnown = this.#errors.has(kind) || this.#errors.size < MOST_KINDS;
    const key = isKnown ? kind : OTHERS;
    const before = this.#errors.get(key)?.count ?? 0;
    this.#errors.set(key, { count: before + 1, message });
  }

  #addUsage(usage: TokenUsage | null): void {
    if (usage === null) return;
    this.inputTokens += usage.input_tokens;
    this.cachedTokens += usage.cached_input_tokens;
    this.outputTokens += usage.output_tokens;
  }
}

/** The kind of an error, as a short code, and its message. */
export function describeError(error: unknown): { readonly code: string; readonly message: string } {
  const message = shorten(messageOf(error));
  if (!(error instanceof StatusError)) {
    const name = error instanceof Error ? error.name : 'error';
    return { code: shorten(codeOf(error) ?? name, 60), message };
  }
  const body = error.error;
  const word =
    textAt(body, 'error', 'code') ?? textAt(body, 'error', 'type') ?? textAt(body, 'code');
  const isWord = word !== undefined && word !== '' && at(body, 'error') !== word;
  return { code: isWord ? `${error.status} ${shorten(word, 60)}` : String(error.status), message };
}
