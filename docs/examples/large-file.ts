import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLimiter } from 'headgate';

// Three prompts stand for your 100,000; the second has its answer from an earlier run.
const folder = await mkdtemp(join(tmpdir(), 'prompts-'));
const input = join(folder, 'prompts.jsonl');
const output = join(folder, 'results.jsonl');
await writeFile(input, '{"id":1,"text":"a"}\n{"id":2,"text":"b"}\n{"id":3,"text":"c"}\n');
await writeFile(output, '{"id":2,"answer":"B"}\n');

interface Prompt {
  readonly id: number;
  readonly text: string;
}
const complete = async (text: string) => text.toUpperCase();

const before = existsSync(output) ? await readFile(output, 'utf8') : '';
const done = new Set(before.split('\n').flatMap((line) => (line ? [JSON.parse(line).id] : [])));
const results = createWriteStream(output, { flags: 'a' });
const lines = createInterface({ input: createReadStream(input) })[Symbol.asyncIterator]();

const CONCURRENCY = 64;
const limiter = createLimiter({ concurrency: CONCURRENCY });

/** Takes the next line when its last one is answered, so that little is read ahead. */
async function work(): Promise<void> {
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const { id, text }: Prompt = JSON.parse(next.value);
    if (done.has(id)) continue;
    try {
      const answer = await limiter.run(() => complete(text));
      results.write(`${JSON.stringify({ id, answer })}\n`);
    } catch (error) {
      console.error(id, error);
    }
  }
}

await Promise.all(Array.from({ length: CONCURRENCY }, work));
await new Promise((resolve) => results.end(resolve));
console.log((await readFile(output, 'utf8')).trim().split('\n').length); // 3
