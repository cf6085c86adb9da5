import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { createLimiter } from 'headgate';

const CONCURRENCY = 2;
const limiter = createLimiter({ concurrency: CONCURRENCY });
const stop = new AbortController();

interface Row {
  readonly id: number;
  readonly text: string;
}
async function* rows(): AsyncGenerator<Row> {
  for (let id = 1; id <= 4; id += 1) yield { id, text: 'x'.repeat(id) }; // as a table is read
}
const embed = async (text: string) => {
  if (text === 'xxx') throw Object.assign(new Error('refused'), { status: 400 });
  return [text.length];
};

async function send({ id, text }: Row) {
  const options = { signal: stop.signal, bytes: Buffer.byteLength(text) };
  try {
    return { id, vector: await limiter.run(() => embed(text), options) };
  } catch (error) {
    return { id, error: String(error) }; // this row has failed, and the others go on
  }
}

try {
  await pipeline(
    Readable.from(rows()).map(send, { concurrency: CONCURRENCY }),
    async (results: AsyncIterable<Awaited<ReturnType<typeof send>>>) => {
      for await (const result of results) {
        await setTimeout(10); // stands for a slow database
        console.log(JSON.stringify(result)); // {"id":1,"vector":[1]} and three more
      }
    },
  );
} finally {
  stop.abort(); // if the database has failed, nothing more is sent
}
