import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpSender, openCache, runBatch } from 'headgate/batch';

const folder = await mkdtemp(join(tmpdir(), 'prompts-'));
const input = join(folder, 'prompts.jsonl');
await writeFile(input, '{"prompt": "Say hello."}\n{"prompt": "Name a colour."}\n');

const baseUrl = process.env.MODEL_API ?? 'https://api.openai.com/v1';
const apiKey = process.env.OPENAI_API_KEY;
const sender = createHttpSender({ baseUrl, apiKey, timeoutMs: 600_000 });
const cache = await openCache(join(folder, 'answers'), baseUrl); // npm install lmdb
try {
  for (const name of ['results.jsonl', 'again.jsonl']) {
    const { ok, cached, stop } = await runBatch({
      input,
      output: join(folder, name),
      model: 'gpt-5-mini',
      send: sender.send,
      cache,
      prices: { 'gpt-5-mini': { in: 0.25, cached: 0.025, out: 2 } },
      maxCost: 20,
      signal: AbortSignal.timeout(3_600_000), // what is left then, the next run sends
    });
    console.log(ok, cached, stop?.message); // 2 0 undefined, then 2 2 undefined
  }
} finally {
  await cache.close();
  await sender.close();
}
