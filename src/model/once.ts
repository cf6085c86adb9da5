/** Work that another is asked to run amid something: it runs once, whatever that one does. */
export class Once {
  /** Runs the work, unless it has run. Throws what that throws. */
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

  /** Whether this is the error of the work itself. */
  hasThrown(error: unknown): boolean {
    return this.thrown !== undefined && this.thrown.error === error;
  }

  /** Runs the work, if the other has not. Throws what it threw, if the other has kept that. */
  end(): void {
    if (!this.hasRun) this.run();
    else if (this.thrown !== undefined) throw this.thrown.error;
  }
}
