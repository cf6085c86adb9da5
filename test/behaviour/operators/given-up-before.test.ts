import { of, Subscriber } from 'rxjs';
import { expect, it } from 'vitest';
import { throttle } from '../../../src/index.ts';
import { openGates } from '../../../src/request/request-gate.ts';

it('a stream that is unsubscribed before it begins is not shown, and leaves nothing open', () => {
  const subscriber = new Subscriber<number>();
  subscriber.unsubscribe();
  let open = 0;
  const opened = () => {
    open += 1;
    return () => {
      open -= 1;
    };
  };
  const listed = new Set<object>();
  const unwatch = openGates.watch({
    opened: (gate) => listed.add(gate),
    closed: (gate) => listed.delete(gate),
  });
  const before = listed.size;
  const send = (value: number) => of(value);
  of(1)
    .pipe(throttle(send, { instrumentation: { opened } }))
    .subscribe(subscriber);
  unwatch();
  expect(open).toBe(0);
  expect(listed.size).toBe(before);
});
