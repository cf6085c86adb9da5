import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBatch } from 'headgate/batch';
import OpenAI from 'openai';

const folder = await mkdtemp(join(tmpdir(), 'prompts-'));
const input = join(folder, 'prompts.jsonl');
await writeFile(input, '{"prompt": "Say hello."}\n{"prompt": "Name a colour."}\n');

const client = new OpenAI({ maxRetries: 0 });
const report = await runBatch({
  input,
  output: join(folder, 'results.jsonl'),
  model: 'gpt-5-mini',
  requestsPerMinute: 500,
  send: async ({ body }, { signal }) => {
    const { data, response } = await client
      .post('/chat/completions', { body, signal })
      .withResponse();
    const headers = Object.fromEntries(response.headers);
    return { statusCode: response.status, headers, body: data };
  },
});
console.log(report.ok, report.failed, report.stop?.message); // 2 0 undefined
