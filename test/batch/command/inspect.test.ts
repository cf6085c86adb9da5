import { once } from 'node:events';
import { expect, it } from 'vitest';
import { prompts, rig } from './command.ts';

it('--inspect serves the page while the command runs, and prints where', async (test) => {
  const { run, write } = await rig(test);
  write('in.jsonl', prompts(3));
  const { code, stderr } = await run(['in.jsonl', '--out', 'out.jsonl', '--inspect']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Where requests wait: http:\/\/127\.0\.0\.1:\d+$/m);
});

it('--inspect takes another port where its own is taken', async (test) => {
  const { createServer } = await import('node:net');
  const other = createServer();
  // Whoever has it, it is taken.
  const isTaken = new Promise<void>((resolve) => {
    other.once('error', () => resolve());
    other.listen(4600, '127.0.0.1', resolve);
  });
  await isTaken;
  const { run, write } = await rig(test);
  write('in.jsonl', prompts(3));
  const { code, stderr } = await run(['in.jsonl', '--out', 'out.jsonl', '--inspect']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Where requests wait: http:\/\/127\.0\.0\.1:(?!4600$)\d+$/m);
  if (other.listening) {
    other.close();
    await once(other, 'close');
  }
});
