import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { commandLine, rig } from './command.ts';
import { prompts } from './files.ts';

const PAGES = ['README', 'docs/guides/batch', 'docs/guides/resume', 'docs/guides/cost'];
PAGES.push('docs/guides/embeddings');

/** The commands of a page, in their order; a command may go over several lines. */
function commandsOf(page: string): string[] {
  const text = readFileSync(new URL(`../../../${page}.md`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'));
  return lines.filter((line) => line.startsWith('npx headgate '));
}

/** An answer that any of the APIs might give. */
function answer(body: Record<string, unknown> = {}) {
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  if (!Array.isArray(body.input)) {
    const message = { role: 'assistant', content: 'yes' };
    return { choices: [{ message }], data: [{ index: 0, embedding: [1] }], usage };
  }
  return { data: body.input.map((_, index) => ({ index, embedding: [index] })), usage };
}

describe('the commands of a page do what it says', () => {
  it.for(PAGES)('%s.md', async (page, test) => {
    const commands = commandsOf(page);
    expect(commands.length).toBeGreaterThan(1);
    const { write, folder, server } = await rig(test, {
      handle: () => ({ body: answer(server.bodies.at(-1)) }),
    });
    write('prompts.jsonl', prompts(3));
    write('texts.txt', 'one\ntwo\n');
    write('reviews.csv', 'id,review\n1,good\n2,"bad, really"\n');
    write('prices.json', '{"*": {"in": 1, "out": 4}}');
    const [node, main] = commandLine;
    const env = {
      ...process.env,
      OPENAI_API_KEY: 'none',
      ANTHROPIC_API_KEY: 'none',
      OPENAI_BASE_URL: server.url,
      ANTHROPIC_BASE_URL: server.url,
    };
    for (const command of commands) {
      // Where a page shows several ways of the same, the output of one is not that of the next.
      const own = command
        .replace('npx headgate', `"${node}" "${main}"`)
        .replace('http://127.0.0.1:8000/v1', server.url);
      const { stdout } = await promisify(execFile)('sh', ['-c', own], { cwd: folder, env }).catch(
        (error: { stdout: string; stderr: string }) => {
          throw new Error(`${command}\n${error.stdout}${error.stderr}`);
        },
      );
      if (/headgate run(?!.*--dry-run)/.test(command)) expect(stdout).toMatch(/^failed {4}0$/m);
    }
  });
});
