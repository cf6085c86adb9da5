/** What one rejection after another leaves of the rate. */
const LEFT = 0.5;
/** What each attempt that is sent lets it grow by again. */
const RELEASE = 1.1;

/**
 * Slows down while rejections follow each other closely, before they tell another rate: a window
 * that was filled in a burst, and opens slowly, would reject every second attempt.
 */
export class Brake {
  #factor = 1;

  get factor(): number {
    return this.#factor;
  }

  press(): void {
    this.#factor *= LEFT;
  }

  sent(): void {
    if (this.#factor < 1) this.#factor = Math.min(1, this.#factor * RELEASE);
  }
}
