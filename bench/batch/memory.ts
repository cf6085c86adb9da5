/**
 * Runs many lines of 1 kB that are answered at once. Prints the time and the peak memory of the
 * process: `node build/bench/batch/memory.js [lines] [models]`. With several models the lines are
 * sorted by model, and each model has limits of its own.
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runBatch } from 'headgate/batch';

const LINE_BYTES = 1_000;

const ANSWER = {
  choices: [{ message: { role: 'assistant', content: 'An answer of a few words.' } }],
  usage: { prompt_tokens: 230, completion_tokens: 6 },
};

// The command does the same.
setFlagsFromString('--semi-space-growth-factor=1');
setFlagsFromString('--heap-growing-percent=20');

const lines = Number(process.argv[2] ?? 1_000_000);
const models = Number(process.argv[3] ?? 1);
const folder = await mkdtemp(join(tmpdir(), 'headgate-bench-'));
const input = join(folder, 'in.jsonl');

function* inputLines(): Generator<string> {
  const text = 'a'.repeat(LINE_BYTES - 80);
  for (let index = 0; index < lines; index += 1) {
    const model = `m${Math.floor((index * models) / lines)}`;
    yield `${JSON.stringify({ id: `request-${index}`, model, prompt: text })}\n`;
  }
}

try {
  await pipeline(inputLines(), createWriteStream(input));
  const startedAt = performance.now();
  const report = await runBatch({
    input,
    output: join(folder, 'out.jsonl'),
    send: async () => ({ statusCode: 200, body: ANSWER }),
    telemetry: false,
    ...(models > 1 && { limitsByModel: { '*': { concurrency: 100 } } }),
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const mib = Math.round(process.resourceUsage().maxRSS / 1_024);
  console.log(
    `${report.ok} of ${lines} lines in ${seconds.toFixed(1)} s ` +
      `(${Math.round(lines / seconds)} lines/s), at most ${mib} MiB of memory (RSS)`,
  );
} finally {
  await rm(folder, { recursive: true });
}
