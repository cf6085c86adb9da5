import type { OnStoreLoss } from './protocol.ts';

/**
 * Warns once when a store is lost, and once when it is back, however many workers of this process use it:
 * a group has one for each of its keys.
 */
export class StoreWarnings {
  private readonly label: string;
  private away = 0;

  /** @param name of the limiter, stream or group, if it has one */
  constructor(name: string | undefined) {
    this.label = name === undefined ? '' : ` (${name})`;
  }

  lost(message: string, meanwhile: OnStoreLoss): void {
    this.away += 1;
    if (this.away > 1) return;
    const consequence =
      meanwhile === 'pause' ? 'nothing is sent' : 'this worker goes on with its share';
    process.emitWarning(
      `headgate${this.label} cannot reach the shared store, and ${consequence} until it answers: ${message}`,
    );
  }

  back(awayMs: number): void {
    this.away -= 1;
    if (this.away > 0) return;
    process.emitWarning(
      `headgate${this.label} reaches the shared store again after ${Math.round(awayMs)} ms`,
    );
  }

  /** A worker that has lost the store is closed. */
  left(): void {
    this.away -= 1;
  }
}
