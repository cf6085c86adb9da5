import { expect, it } from 'vitest';
import { warning } from '../../../src/telemetry/node/exporters.ts';

it('an exporter says when it begins to fail, and when it works again, once each', () => {
  const lines: string[] = [];
  let error: Error | undefined;
  const exporter = {
    export: (_items: unknown, done: (result: { code: number; error?: Error }) => void) =>
      done(error === undefined ? { code: 0 } : { code: 1, error }),
  };
  const told = warning(exporter, 'traces', (line) => lines.push(line));
  const send = (failure?: Error) => {
    error = failure;
    told.export([], () => {});
  };
  send();
  send(new Error('refused'));
  send(new Error('refused'));
  send();
  send();
  send(new Error('reset'));
  expect(lines).toEqual([
    'traces could not be exported, and are lost while that lasts: refused',
    'traces are exported again',
    'traces could not be exported, and are lost while that lasts: reset',
  ]);
});
