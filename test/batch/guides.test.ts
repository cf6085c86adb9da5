import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { prompts } from './command/files.ts';
import { inProcess } from './command-in-process.ts';

const PAGES = ['README', 'docs/guides/batch', 'docs/guides/resume', 'docs/guides/cost'];
PAGES.push('docs/guides/embeddings');

/** The commands of a page, in their order; a command may go over several lines. */
function commandsOf(page: string): string[] {
  const text = readFileSync(new URL(`../../${page}.md`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'));
  return lines.filter((line) => line.startsWith('npx headgate '));
}

/** What a shell gives to `headgate`; what it writes to a file is left out. */
function argumentsOf(command: string): string[] {
  const script = command.replace('npx headgate', "printf '%s\\n'").replace(/ > \S+/, '');
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
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
    const { write, command, server } = await inProcess(test, {
      handle: () => ({ body: answer(server.bodies.at(-1)) }),
    });
    write('prompts.jsonl', prompts(3));
    write('texts.txt', 'one\ntwo\n');
    write('reviews.csv', 'id,review\n1,good\n2,"bad, really"\n');
    write('prices.json', '{"*": {"in": 1, "out": 4}}');
    const env = {
      OPENAI_API_KEY: 'none',
      ANTHROPIC_API_KEY: 'none',
      OPENAI_BASE_URL: server.url,
      ANTHROPIC_BASE_URL: server.url,
    };
    for (const line of commands) {
      // Where a page shows a server of the reader's, this one answers.
      const args = argumentsOf(line.replace('http://127.0.0.1:8000/v1', server.url));
      const { code, stdout, stderr } = await command(args, env);
      expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
      if (args[0] === 'export') expect(stdout).toMatch(/yes|\[1\]/);
      if (args[0] === 'run' && !args.includes('--dry-run')) {
        expect(stdout).toMatch(/^failed {4}0$/m);
      }
    }
  });
});
