import { Sized } from 'headgate';
import { expect, it } from 'vitest';
import { ReadAhead } from '../../src/batch/read-ahead.ts';
import type { BatchRequest } from '../../src/batch/request.ts';

const MIB = 1_024 * 1_024;

/** Requests of 10 MiB; the texts are not there. */
async function* requests(closed: () => void): AsyncGenerator<Sized<BatchRequest>> {
  try {
    for (let index = 0; index < 10; index += 1) {
      const request = { id: `r${index}`, url: '', body: {}, place: '', hash: '' };
      yield new Sized<BatchRequest>(request, 10 * MIB);
    }
  } finally {
    closed();
  }
}

/** Reads as fast as it may. */
function reading() {
  const ahead = new ReadAhead();
  const read: BatchRequest[] = [];
  let isClosed = false;
  const source = ahead.from(
    requests(() => {
      isClosed = true;
    }),
  );
  const done = (async () => {
    for await (const { value } of source) read.push(value);
  })();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { ahead, read, source, done, settle, isClosed: () => isClosed };
}

it('stops reading when the unfinished requests take 32 MiB, and goes on as they end', async () => {
  const { ahead, read, done, settle } = reading();
  await settle();
  expect(read).toHaveLength(4);
  for (let index = 0; index < 6; index += 1) {
    ahead.ended(read[index] as BatchRequest);
    await settle();
    expect(read).toHaveLength(index + 5);
  }
  await done;
});

it('closes the source when the run ends while it waits', async () => {
  const { ahead, source, settle, isClosed } = reading();
  await settle();
  const returned = source.return(undefined);
  ahead.close();
  await returned;
  expect(isClosed()).toBe(true);
});
