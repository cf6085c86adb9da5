import { throttle } from 'headgate';
import { lastValueFrom, range, tap, toArray } from 'rxjs';
import { type GateName, gatingOf } from '../gates.ts';
import { proveGates, type Send } from '../proofs.ts';
import type { ClientModule } from './client.ts';

const send: Send = async (gating, count, task) => {
  const operator = throttle(task, { ...gating, outcomes: true });
  const outcomes = await lastValueFrom(range(0, count).pipe(operator, toArray()));
  return outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.error] : []));
};

/** `throttle` with gates in addition to the defaults. */
export function gatedStream(name: GateName): ClientModule {
  return {
    run: (task, count, concurrency) =>
      new Promise((resolve, reject) => {
        range(0, count)
          .pipe(throttle(task, gatingOf(name, concurrency)))
          .subscribe({ complete: resolve, error: reject });
      }),
    fill: (task, count, concurrency) => {
      let taken = 0;
      const countValues = tap<number>(() => {
        taken += 1;
      });
      const held = range(0, count)
        .pipe(countValues, throttle(task, gatingOf(name, concurrency)))
        .subscribe();
      return { taken, held };
    },
    prove: (concurrency) => proveGates(send, gatingOf(name, concurrency)),
  };
}
