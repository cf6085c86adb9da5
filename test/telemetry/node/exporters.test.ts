import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, it } from 'vitest';
import { spanProcessor, warning } from '../../../src/telemetry/node/exporters.ts';
import { loadPackages } from '../../../src/telemetry/node/packages.ts';

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

it('a shutdown exports a full queue of spans, without a loss', async () => {
  let exports = 0;
  const server = createServer((request, response) => {
    exports += 1;
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  const lines: string[] = [];
  const processor = spanProcessor(await loadPackages(), url, (line) => lines.push(line));
  const provider = new TracerProvider({ spanProcessors: [processor] });
  const tracer = provider.getTracer('test');
  for (let span = 0; span < 16_384; span += 1) tracer.startSpan('span').end();
  await provider.shutdown();
  server.close();
  expect(lines).toEqual([]);
  expect(exports).toBe(32);
});
