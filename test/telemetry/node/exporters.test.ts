import { expect, it } from 'vitest';
import { warning } from '../../../src/telemetry/node/exporters.ts';

const URL = 'http://user:secret@127.0.0.1:4318/v1/traces?key=secret';

/** Exports with each of the results in turn. */
function exportAll(results: readonly { code: number; error?: Error }[]) {
  const lines: string[] = [];
  const given: unknown[] = [];
  let next = 0;
  const exporter = {
    export: (_items: unknown, done: (result: { code: number; error?: Error }) => void) => {
      done(results[next++] ?? { code: 0 });
    },
  };
  const told = warning(exporter, 'traces', URL, (line) => lines.push(line));
  for (const _ of results) told.export([], (result) => given.push(result));
  return { lines, given };
}

const failed = (message: string, code?: unknown) => ({
  code: 1,
  error: Object.assign(new Error(message), code !== undefined && { code }),
});

it('an exporter says when it begins to fail, and when it works again, once each', () => {
  const [fine, refused] = [{ code: 0 }, failed('refused')];
  const { lines } = exportAll([fine, refused, refused, fine, fine, failed('reset')]);
  expect(lines).toEqual([
    'traces could not be exported, and are lost while that lasts: refused (http://127.0.0.1:4318/v1/traces)',
    'traces are exported again',
    'traces could not be exported, and are lost while that lasts: reset (http://127.0.0.1:4318/v1/traces)',
  ]);
});

it.each([
  [failed('Not Found', 404), 'Not Found (404 from http://127.0.0.1:4318/v1/traces)'],
  [failed('', 404), '(404 from http://127.0.0.1:4318/v1/traces)'],
  [failed('', 'ECONNREFUSED'), 'ECONNREFUSED (http://127.0.0.1:4318/v1/traces)'],
  [
    failed('Export failed with retryable status'),
    '429, 502, 503 or 504 from http://127.0.0.1:4318/v1/traces',
  ],
])('a failure is told with its status and address, without secrets', (result, why) => {
  expect(exportAll([result]).lines).toEqual([
    `traces could not be exported, and are lost while that lasts: ${why}`,
  ]);
});

it('a failed export does not end the shutdown of the SDK', () => {
  expect(exportAll([failed('refused')]).given).toEqual([{ code: 0 }]);
});
