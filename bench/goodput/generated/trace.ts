/** Records the state of one run at regular times and at rejections. */

import type { RunView, Watcher } from './run.ts';
import type { Answer } from './server.ts';

export interface TraceEntry {
  readonly atMs: number;
  /** `rejected`: the client has just received a rejection. */
  readonly cause: 'time' | 'rejected';
  /** The answers that the client has received so far, and the attempts that it has sent. */
  readonly sent: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly inFlight: number;
  readonly waiting: number;
  readonly belief: unknown;
}

/** The number of samples of a run. */
const LOOKS = 60;
/** The most rejections with an entry of their own. */
const MOST_REJECTIONS = 200;

export class Trace implements Watcher {
  readonly entries: TraceEntry[] = [];
  private view: RunView | undefined;
  private sentCount = 0;
  private accepted = 0;
  private rejected = 0;

  begun(view: RunView): void {
    this.view = view;
    const everyMs = view.scenario.horizonMs / LOOKS;
    const look = () => {
      this.note('time');
      view.clock.setTimer(look, everyMs);
    };
    look();
  }

  sent(): void {
    this.sentCount += 1;
  }

  answered({ status }: Answer): void {
    if (status === 200) {
      this.accepted += 1;
      return;
    }
    this.rejected += 1;
    if (this.rejected <= MOST_REJECTIONS) this.note('rejected');
  }

  private note(cause: TraceEntry['cause']): void {
    const { view, sentCount: sent, accepted, rejected } = this;
    if (view === undefined) return;
    this.entries.push({
      atMs: view.clock.now(),
      cause,
      sent,
      accepted,
      rejected,
      inFlight: view.inFlight(),
      waiting: view.waiting(),
      belief: view.snapshot(),
    });
  }
}

/** The fields of a client's estimates in one line, with numbers of four digits. */
export function beliefText(belief: unknown): string {
  if (typeof belief === 'number') return `${Number(belief.toPrecision(4))}`;
  if (Array.isArray(belief)) return `[${belief.map(beliefText).join(' ')}]`;
  if (typeof belief !== 'object' || belief === null) return `${belief}`;
  const fields = Object.entries(belief).filter(([, value]) => value !== undefined);
  return fields
    .map(([name, value]) => {
      const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
      return `${name}=${isNested ? `{${beliefText(value)}}` : beliefText(value)}`;
    })
    .join(' ');
}
