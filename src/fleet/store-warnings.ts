import type { OnStoreLoss } from './store-settings.ts';

/**
 * Warns once when a store is lost, and once when it is back, however many workers of this process use it:
 * a group has one for each of its keys.
 */
export class StoreWarnings {
  private away = 0;

  /** @param name of the limiter, stream or group, if it has one */
  lost(message: string, meanwhile: OnStoreLoss, name: string | undefined): void {
    this.away += 1;
    if (this.away > 1) return;
    const consequence =
      meanwhile === 'pause' ? 'nothing is sent' : 'this worker goes on with its share';
    process.emitWarning(
      `headgate${labelOf(name)} cannot reach the shared store, and ${consequence} until it answers: ${message}`,
    );
  }

  back(awayMs: number, name: string | undefined): void {
    this.away -= 1;
    if (this.away > 0) return;
    process.emitWarning(
      `headgate${labelOf(name)} reaches the shared store again after ${Math.round(awayMs)} ms`,
    );
  }

  /** A worker that has lost the store is closed. */
  left(): void {
    this.away -= 1;
  }
}

function labelOf(name: string | undefined): string {
  return name === undefined ? '' : ` (${name})`;
}

const known = new WeakMap<object, StoreWarnings>();

/** Those of all workers with the same peers. */
export function warningsOf(peers: object | undefined): StoreWarnings {
  const found = peers && known.get(peers);
  if (found !== undefined) return found;
  const warnings = new StoreWarnings();
  if (peers !== undefined) known.set(peers, warnings);
  return warnings;
}
