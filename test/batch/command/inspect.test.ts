import { once } from 'node:events';
import { expect, it } from 'vitest';
import { rig } from './command.ts';
import { prompts } from './files.ts';

it('--inspect serves the page while the command runs, and prints its address', async (test) => {
  const { run, write } = await rig(test);
  write('in.jsonl', prompts(3));
  const { code, stderr } = await run(['in.jsonl', '--out', 'out.jsonl', '--inspect']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Where requests wait: http:\/\/127\.0\.0\.1:\d+$/m);
});

it('--inspect takes another port if its own is in use', async (test) => {
  const { createServer } = await import('node:net');
  const other = createServer();
  // The port is in use, by this server or another program.
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

it('--hold keeps the page after the run, until a signal, and the exit code is that of the run', async (test) => {
  const { startRun, write, results } = await rig(test);
  write('in.jsonl', prompts(3));
  const running = startRun(['in.jsonl', '--out', 'out.jsonl', '--inspect', '--hold']);
  await expect
    .poll(() => running.stderr(), { timeout: 20_000 })
    .toContain('The page stays open until Ctrl-C.');
  expect(results()).toHaveLength(3);
  const [, url = ''] = /Where requests wait: (\S+)/.exec(running.stderr()) ?? [];
  expect((await fetch(url)).status).toBe(200);
  running.process.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 0 });
});

it('--hold without --inspect is refused', async (test) => {
  const { run, write } = await rig(test);
  write('in.jsonl', prompts(1));
  const { code, stderr } = await run(['in.jsonl', '--out', 'out.jsonl', '--hold']);
  expect(code).not.toBe(0);
  expect(stderr).toContain('--hold is for the page of --inspect: give both');
});
