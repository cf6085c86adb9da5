/**
 * Work that is passed to foreign code to run. It runs exactly once, even if that code runs it never
 * or twice.
 */
export class Once {
  /** Runs the work if it has not run. Rethrows its error. */
  readonly run: () => void;
  private hasRun = false;
  private thrown: { readonly error: unknown } | undefined = undefined;

  constructor(work: () => void) {
    this.run = () => {
      if (this.hasRun) return;
      this.hasRun = true;
      try {
        work();
      } catch (error) {
        this.thrown = { error };
        throw error;
      }
    };
  }

  /** Whether the work itself threw this error. */
  hasThrown(error: unknown): boolean {
    return this.thrown !== undefined && this.thrown.error === error;
  }

  /**
   * Runs the work if the foreign code did not, and rethrows its error if the foreign code swallowed
   * it.
   */
  end(): void {
    if (!this.hasRun) this.run();
    else if (this.thrown !== undefined) throw this.thrown.error;
  }
}
