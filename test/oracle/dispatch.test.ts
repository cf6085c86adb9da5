import { Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { byteBudget, concurrencyLimit, dispatch, FeedbackSubject, Sized } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { recorded } from './fixtures.ts';

interface Request {
  readonly at: number;
  readonly bytes: number;
  readonly holdMs: number;
}

interface Case {
  readonly slots: number;
  readonly throttledSlots: number;
  readonly maxBytes: number;
  readonly requests: readonly Request[];
  readonly backoff: { readonly at: number; readonly waitMs: number } | null;
  readonly admitted: readonly number[];
  /** Whether the mode was another one as a request came than as it was admitted. */
  readonly modeChanged: boolean;
  /** Whether a request was admitted before one that had come before it. */
  readonly overtaken: boolean;
}

/** When each request was sent. */
function sentAt({ slots, throttledSlots, maxBytes, requests, backoff }: Case): number[] {
  const clock = new ManualClock();
  const feedback = new FeedbackSubject({ clock, reopen: 'all' });
  const source = new Subject<Sized<number>>();
  const sent: number[] = [];
  const send = (index: number) =>
    new Observable<number>((out) => {
      sent[index] = clock.now();
      clock.setTimer(() => out.complete(), requests[index]?.holdMs ?? 0);
    });
  source
    .pipe(
      concurrencyLimit({
        concurrency: slots,
        throttledConcurrency: throttledSlots,
        clock,
        feedback,
      }),
      byteBudget({ maxBytes, clock, feedback }),
      dispatch(send, { clock }),
    )
    .subscribe();
  if (backoff !== null) {
    const reject = () => feedback.next({ kind: 'throttled', retryAfterMs: backoff.waitMs });
    clock.setTimer(reject, backoff.at);
  }
  requests.forEach(({ at, bytes }, index) => {
    clock.setTimer(() => source.next(new Sized(index, bytes)), at);
  });
  clock.runAll();
  return sent;
}

const isSame = (sent: readonly number[], { admitted }: Case) =>
  sent.length === admitted.length &&
  sent.every((at, index) => Math.abs(at - (admitted[index] ?? Number.NaN)) < 1);

describe('slots and bytes', () => {
  const cases = recorded<Case>('dispatch');

  it('admit requests when tinker does', () => {
    const plain = cases.filter(({ modeChanged, overtaken }) => !modeChanged && !overtaken);
    expect(plain.length).toBeGreaterThan(900);
    for (const each of plain) {
      const sent = sentAt(each);
      expect(isSame(sent, each), JSON.stringify({ ...each, ours: sent })).toBe(true);
    }
  });

  it('unlike in tinker, ask for the mode as a request is admitted, not as it comes', () => {
    const changed = cases.filter(({ modeChanged }) => modeChanged);
    expect(changed.length).toBeGreaterThan(100);
    const others = changed.filter((each) => !isSame(sentAt(each), each));
    expect(others.length).toBeGreaterThan(10);
  });

  it('unlike in tinker, let nobody overtake', () => {
    const overtaken = cases.filter(({ overtaken }) => overtaken);
    expect(overtaken.length).toBeGreaterThan(50);
    for (const each of overtaken) {
      const sent = sentAt(each);
      expect(sent).toHaveLength(each.requests.length);
      expect(sent.toSorted((a, b) => a - b)).toEqual(sent);
    }
  });
});
