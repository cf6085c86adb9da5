import { Observable, type Subscriber } from 'rxjs';
import { checkInteger } from '../util/check.ts';

/** A limit, or a stream of limits. Each emitted limit applies at once. */
export type Adjustable = number | Observable<number>;

/** @throws RangeError or TypeError that names the option */
export function checkAdjustable(name: string, value: Adjustable | undefined, least: number): void {
  if (value !== undefined && !(value instanceof Observable)) checkInteger(name, value, least);
}

/**
 * Applies the limits of a stream while `out` is subscribed. A wrong limit, or an error of
 * the stream, errors `out`; its completion leaves the last limit in force.
 */
export function follow<T>(
  out: Subscriber<T>,
  name: string,
  value: Adjustable | undefined,
  least: number,
  apply: (limit: number) => void,
): void {
  if (!(value instanceof Observable)) return;
  const limits = value.subscribe({
    next: (limit) => {
      try {
        apply(checkInteger(name, limit, least));
      } catch (error) {
        out.error(error);
      }
    },
    error: (error) => out.error(error),
  });
  out.add(limits);
}
