import { chunkBy, type Outcome, Sized } from 'headgate';
import { Subject } from 'rxjs';
import { type BatchRequest, type BatchResponse, promptTokensOf } from '../request.ts';
import { groupKeyOf, groupOf, mayBeOneLine, outcomesOf, splitResponse } from './group-request.ts';

/** How long a group that is not full waits for more lines, in ms. */
const FILL_MS = 1_000;
/** Groups that are filled at the same time: more would take too much memory. */
const MOST_OPEN = 64;
/** If this number of groups fail before any succeeds, lines are no longer grouped. */
const FAILED_IN_A_ROW = 20;

/** The most lines of groups in flight, which are kept in memory. */
const MOST_LINES = 8_192;

export interface GroupLimits {
  /** Lines of a group at the most; 1: no lines are grouped. */
  readonly maxItems: number;
  /** Estimated tokens of a group at the most; a longer line is sent alone. */
  readonly maxTokens: number;
}

/**
 * Puts lines into groups that are sent as one request, and splits the answers. A group that is
 * refused is sent again in halves, until the line that causes this is alone.
 */
export class RequestGroups {
  readonly #limits: GroupLimits;
  readonly #open = new Map<string, Subject<Sized<BatchRequest>>>();
  readonly #ready: BatchRequest[] = [];
  /** Lines of the groups in flight. */
  #unsettled = 0;
  #failedInARow = 0;
  #isOff = false;
  #onChange: (() => void) | undefined = undefined;

  constructor(limits: GroupLimits) {
    this.#limits = limits;
    this.#isOff = limits.maxItems === 1;
  }

  /**
   * The requests of a source, with groups in place of the lines that they contain. Ends when the
   * source has ended and every group has its outcome.
   */
  async *from(
    requests: AsyncGenerator<BatchRequest>,
    signal: AbortSignal,
  ): AsyncGenerator<BatchRequest> {
    let arrived: IteratorResult<BatchRequest> | undefined;
    let failure: { readonly error: unknown } | undefined;
    let isReading = false;
    let hasEnded = false;
    const changed = () => this.#onChange?.();
    const read = () => {
      isReading = true;
      requests
        .next()
        .then(
          (result) => {
            arrived = result;
          },
          (error: unknown) => {
            failure = { error };
          },
        )
        .then(changed);
    };
    signal.addEventListener('abort', changed, { once: true });
    try {
      for (;;) {
        if (signal.aborted) return;
        if (failure !== undefined) throw failure.error;
        const isBlocked = this.#ready.length > 0 && this.#unsettled >= MOST_LINES;
        const ready = isBlocked ? undefined : this.#ready.shift();
        if (ready !== undefined) {
          this.#unsettled += ready.members?.length ?? 0;
          yield ready;
        } else if (arrived !== undefined) {
          const { done, value } = arrived;
          arrived = undefined;
          isReading = false;
          hasEnded = done === true;
          if (hasEnded) this.#closeAll();
          else this.#add(value);
        } else if (hasEnded && this.#unsettled === 0) {
          return;
        } else {
          if (!isReading && !hasEnded && !isBlocked) read();
          await new Promise<void>((resolve) => {
            this.#onChange = resolve;
          });
        }
      }
    } finally {
      signal.removeEventListener('abort', changed);
      for (const lines of this.#open.values()) lines.unsubscribe();
      await requests.return(undefined);
    }
  }

  /**
   * The outcomes of the lines of a request; none if the lines are sent again in smaller groups.
   */
  settled(
    outcome: Outcome<BatchRequest, BatchResponse>,
  ): readonly Outcome<BatchRequest, BatchResponse>[] {
    const { members } = outcome.request;
    if (members === undefined) return [outcome];
    this.#unsettled -= members.length;
    const responses = outcome.status === 'ok' ? splitResponse(members, outcome.value) : undefined;
    const isOk = responses !== undefined;
    this.#failedInARow = isOk ? Number.NEGATIVE_INFINITY : this.#failedInARow + 1;
    if (this.#failedInARow >= FAILED_IN_A_ROW) this.#isOff = true;
    const isSplit = !isOk && (outcome.status === 'ok' || mayBeOneLine(outcome.error));
    if (isSplit) this.#split(members);
    this.#onChange?.();
    return isSplit ? [] : outcomesOf(outcome, members, responses);
  }

  #add(request: BatchRequest): void {
    const key = this.#isOff ? undefined : groupKeyOf(request);
    if (key === undefined) this.#ready.push(request);
    else this.#linesOf(key).next(new Sized(request, promptTokensOf(request)));
  }

  #linesOf(key: string): Subject<Sized<BatchRequest>> {
    const open = this.#open.get(key);
    if (open !== undefined) return open;
    if (this.#open.size === MOST_OPEN) this.#closeAll();
    const lines = new Subject<Sized<BatchRequest>>();
    const { maxItems, maxTokens } = this.#limits;
    // `chunkBy` limits bytes. Here the size is in tokens, which limit a request for embeddings.
    const chunks = lines.pipe(chunkBy({ maxItems, maxBytes: maxTokens, maxDelayMs: FILL_MS }));
    chunks.subscribe(({ value }) => {
      this.#ready.push(groupOf(value));
      this.#onChange?.();
    });
    this.#open.set(key, lines);
    return lines;
  }

  #closeAll(): void {
    for (const lines of this.#open.values()) lines.complete();
    this.#open.clear();
  }

  #split(members: readonly BatchRequest[]): void {
    const middle = Math.ceil(members.length / 2);
    if (this.#isOff) this.#ready.push(...members);
    else this.#ready.push(groupOf(members.slice(0, middle)), groupOf(members.slice(middle)));
  }
}
