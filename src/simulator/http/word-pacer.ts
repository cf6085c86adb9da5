import type { Clock, Timer } from '../../util/clock.ts';

/** Writes the words of an answer at even intervals over its duration. */
export class WordPacer {
  readonly #clock: Clock;
  readonly #words: readonly string[];
  readonly #write: (word: string) => void;
  readonly #startMs: number;
  readonly #wordMs: number;
  #written = 0;
  #timer: Timer | undefined;

  constructor(
    clock: Clock,
    words: readonly string[],
    durationMs: number,
    write: (word: string) => void,
  ) {
    this.#clock = clock;
    this.#words = words;
    this.#write = write;
    this.#startMs = clock.now();
    this.#wordMs = durationMs / (words.length + 1);
    this.#arm();
  }

  /** Writes the remaining words at once. */
  finish(): void {
    this.stop();
    this.#writeUpTo(this.#words.length);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #arm(): void {
    if (this.#wordMs === 0 || this.#written === this.#words.length) return;
    const dueMs = this.#startMs + (this.#written + 1) * this.#wordMs;
    this.#timer = this.#clock.setTimer(
      () => {
        const passedMs = this.#clock.now() - this.#startMs;
        // Writes at least one word, even if rounding gives none.
        this.#writeUpTo(Math.max(this.#written + 1, Math.floor(passedMs / this.#wordMs)));
        this.#arm();
      },
      Math.max(0, dueMs - this.#clock.now()),
    );
  }

  #writeUpTo(count: number): void {
    for (const word of this.#words.slice(this.#written, count)) this.#write(word);
    this.#written = Math.min(count, this.#words.length);
  }
}
